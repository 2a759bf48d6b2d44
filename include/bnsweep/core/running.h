/* Running statistics of a whole network, and which statistics a norm layer uses in which mode.
 * All arrays are [net->channels], the convolutions' output channels one block after another. */
#ifndef BNSWEEP_CORE_RUNNING_H
#define BNSWEEP_CORE_RUNNING_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/batchnorm.h"
#include "bnsweep/core/net.h"

/* One set of running averages; a trajectory carries one for each BN momentum. Owned by the arena. */
struct running {
    double momentum; /* the weight of the new batch */
    real *mean, *var;
};

/* Statistics of one batch, or of a whole set: mean and biased variance. Owned by the arena. */
struct running_batch {
    double *mean, *var;
};

/* What training mode reads besides the batch; only renormalisation and held layers do. */
struct running_mode {
    const struct running *running; /* not owned */
    const bool *held;              /* [blocks]: this norm layer is in evaluation mode; not owned */
    double step;                   /* training steps done, for renormalisation's schedule */
    bool plain;                    /* renormalisation is left out: r = 1, d = 0 */
};

/* Make a set with mean 0 and variance 1. STATUS_NOMEM. */
enum status running_create(struct running *running, const struct net *net, double momentum, struct arena *arena);
enum status running_batch_create(struct running_batch *batch, const struct net *net, struct arena *arena);
enum status running_transform_create(struct batchnorm_transform *transform, const struct net *net, struct arena *arena);

/* Return the part of a whole-network transform that belongs to one block. */
struct batchnorm_transform running_transform_block(const struct net *net, size_t block, const struct batchnorm_transform *all);

/* Fill block `block` of `all` (and return it) as training mode has it, from the batch statistics already in `batch`. */
struct batchnorm_transform running_training(const struct net *net, size_t block, const struct running_mode *mode,
                                            const struct running_batch *batch, struct batchnorm_transform *all);

/* Fill the whole transform as evaluation mode has it from running statistics, or from other means and variances. */
void running_evaluation(const struct net *net, const struct running *running, struct batchnorm_transform *all);
void running_evaluation_batch(const struct net *net, const struct running_batch *batch, struct batchnorm_transform *all);

/* Write the running statistics of all layers that are not held, from the statistics of a batch of n images. */
void running_update(const struct net *net, const bool *held, const struct running_batch *batch, size_t n, struct running *running);

#endif

/* Forward passes over many images, a few at a time, keeping nothing: accuracies, and statistics of a whole set as one batch.
 * Reads weights and statistics, writes neither. */
#ifndef BNSWEEP_CORE_INFER_H
#define BNSWEEP_CORE_INFER_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/running.h"

#include <stdint.h>

/* Workspace, owned by the arena. */
struct infer {
    const struct net *net;             /* not owned */
    real *z, *out;                     /* a chunk after a convolution, and after a pool */
    double *group_mean, *group_invstd; /* of a chunk */
    real *features, *logits, *workspace;
    struct moments moments[NET_MAX_BLOCKS];
};

/* Labelled images: x[n][h][w][c], labels[n]; not owned. */
struct infer_set {
    size_t n;
    const real *x;
    const int32_t *labels;
};

struct infer_score {
    double accuracy; /* share of images whose first largest logit is the label's */
    double loss;     /* mean cross-entropy, nats */
};

/* STATUS_NOMEM. */
enum status infer_create(struct infer *infer, const struct net *net, struct arena *arena);

/* Compute each convolution channel's mean and biased variance over the set, taken through the network in training mode with the
 * whole set as one batch, into `batch`; and the transform with which that batch is normalised into `transform`.
 * Layers are done one after another, each with the statistics of those before it; activations are recomputed, not stored. */
void infer_statistics(struct infer *infer, const struct running_mode *mode, const real *weights, const struct infer_set *set,
                      struct running_batch *batch, struct batchnorm_transform *transform);

/* Score the set with the norm layers' given transform (ignored where norms keep no running statistics). */
struct infer_score infer_evaluate(struct infer *infer, const real *weights, const struct batchnorm_transform *transform,
                                  const struct infer_set *set);

#endif

/* Forward passes over many images, a few at a time: accuracies, and statistics of a whole set as one batch.
 * Reads weights and statistics, writes neither. */
#ifndef BNSWEEP_CORE_INFER_H
#define BNSWEEP_CORE_INFER_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/room.h"
#include "bnsweep/core/running.h"

#include <stdint.h>

enum { INFER_CHUNK = 16, INFER_MAX_TRANSFORMS = 16 };

/* Workspace, owned by the arena. */
struct infer {
    const struct net *net;      /* not owned */
    struct plain_infer *plain;  /* one of the two: which, the engine says */
    struct fused_infer *fused;
    real *features, *logits;    /* [INFER_MAX_TRANSFORMS][INFER_CHUNK][features]; of one transform */
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

/* Return how much room a set of n images can use. */
size_t infer_room(const struct net *net, size_t n);

/* Make it; what the room holds is lost in each call. STATUS_NOMEM. */
enum status infer_create(struct infer *infer, const struct net *net, struct room room, struct arena *arena);

/* Compute each convolution channel's mean and biased variance over the set, taken through the network in training mode with the
 * whole set as one batch, into `batch`; and the transform with which that batch is normalised into `transform`.
 * Layers are done one after another, each with the statistics of those before it, from the activations that the room holds; the others
 * are computed again. Then, if `score` is not NULL, score the set with that transform. */
void infer_statistics(struct infer *infer, const struct running_mode *mode, const real *weights, const struct infer_set *set,
                      struct running_batch *batch, struct batchnorm_transform *transform, struct infer_score *score);

/* Score the set with the norm layers' given transform (ignored where norms keep no running statistics). */
struct infer_score infer_evaluate(struct infer *infer, const real *weights, const struct batchnorm_transform *transform,
                                  const struct infer_set *set);

/* scores[count], the same for each of count transforms: in one go, so that what they have in common is computed once. */
void infer_evaluate_all(struct infer *infer, const real *weights, size_t count, const struct batchnorm_transform *const *transforms,
                        const struct infer_set *set, struct infer_score *scores);

#endif

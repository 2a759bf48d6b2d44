/* One training pass: forward in training mode over a batch, keeping what backward needs; then backward.
 * Running statistics are read where renormalisation and held layers need them, and never written: see running_update. */
#ifndef BNSWEEP_CORE_PASS_H
#define BNSWEEP_CORE_PASS_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/room.h"
#include "bnsweep/core/running.h"

#include <stdint.h>

/* The buffers of a pass over n images; all owned by the arena. */
struct pass {
    const struct net *net; /* not owned */
    size_t n;
    real *x;         /* [n][h][w][c]: the caller fills it */
    int32_t *labels; /* [n]: the caller fills it */
    struct running_batch batch; /* the batch's statistics, after a forward pass */
    struct batchnorm_transform transform;
    real *features, *logits, *dlogits, *dfeatures;
    struct plain *plain; /* one of the two: which, the engine says */
    struct fused *fused;
};

/* Find how much room the buffers for n images take. STATUS_SHAPE where sizes overflow. */
enum status pass_room(const struct net *net, size_t n, size_t *size);

/* Make buffers for n images, in a room that is large enough, if it is not none. From pass_forward to pass_backward nobody else may use
 * it. STATUS_NOMEM, STATUS_SHAPE where sizes overflow. */
enum status pass_create(struct pass *pass, const struct net *net, size_t n, struct room room, struct arena *arena);

/* Run pass->x and pass->labels forward through weights[net->size]; *loss = mean cross-entropy in nats (not finite where training
 * has diverged). Leaves the batch's statistics in pass->batch. STATUS_SHAPE for one value a channel in a batch norm. */
enum status pass_forward(struct pass *pass, const struct running_mode *mode, const real *weights, double *loss);

/* Overwrite gradient[net->size] with the gradient of the mean loss; after pass_forward with the same weights. */
void pass_backward(struct pass *pass, const real *weights, real *gradient);

#endif

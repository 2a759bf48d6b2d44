/* The training pass layer by layer, as it is written in a textbook: im2row and a BLAS, every layer's output kept. The reference that the
 * fused pass is held against. core/pass.h is its interface to the rest. */
#ifndef BNSWEEP_CORE_PLAIN_H
#define BNSWEEP_CORE_PLAIN_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/moments.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/running.h"

/* Buffers over n images, owned by the arena. */
struct plain {
    const struct net *net; /* not owned */
    size_t n;
    struct plain_block {
        real *z, *a, *out; /* convolution [n][h][w][cout]; after norm and ReLU; after the pool (a where there is none) */
        double *group_mean, *group_invstd; /* [n][groups], group and layer norm only */
        struct moments moments;            /* batch and batchrenorm only, as the transform */
        struct batchnorm_transform transform; /* this block's part of the whole one */
    } block[NET_MAX_BLOCKS];
    real *gradient[2]; /* of activations, [n][largest h w c] */
    real *workspace;
};

/* Make it for n images. STATUS_NOMEM, STATUS_SHAPE. */
enum status plain_create(struct plain *plain, const struct net *net, size_t n, struct arena *arena);

/* features[n][net->features] from x[n][h][w][c]; fills `batch` and `transform` as pass_forward does. STATUS_SHAPE. */
enum status plain_forward(struct plain *plain, const struct running_mode *mode, const real *weights, const real *x,
                          struct running_batch *batch, struct batchnorm_transform *transform, real *features);

/* gradient[net->size] += that of the blocks' parameters, from dfeatures[n][net->features]. */
void plain_backward(struct plain *plain, const real *weights, const real *x, const real *dfeatures, real *gradient);

#endif

/* Forward passes by the kernels, over images that are not kept. core/infer.h is its interface to the rest. */
#ifndef BNSWEEP_CORE_FUSED_INFER_H
#define BNSWEEP_CORE_FUSED_INFER_H

#include "bnsweep/core/affine.h"
#include "bnsweep/core/infer.h"
#include "bnsweep/core/packed.h"

/* Workspace for at most INFER_CHUNK images, owned by the arena. */
struct fused_infer {
    const struct net *net; /* not owned */
    struct packed packed;
    struct fused_infer_block {
        real *in;     /* a few images' input [.][h+2][w+2][cin], the border 0 */
        real *pooled; /* [INFER_CHUNK][out_h][out_w][cout], as struct fused_block's */
        struct affine affine;
        struct moments moments;
    } block[NET_MAX_BLOCKS];
    real *z;       /* a few images' convolution */
    real *average; /* [features, padded] */
    double *group_mean, *group_invstd; /* [groups] */
};

/* STATUS_NOMEM, STATUS_SHAPE. */
enum status fused_infer_create(struct fused_infer *fused, const struct net *net, struct arena *arena);

/* Take over weights[net->size] for the calls that follow; they must stay. */
void fused_infer_set(struct fused_infer *fused, const real *weights);

/* Add what block `target`'s convolution makes of x[n] to its moments; the blocks before it normalise with `transform`. */
void fused_infer_moments(struct fused_infer *fused, const real *weights, size_t target, size_t n, const real *x,
                         const struct batchnorm_transform *transform);

/* features[count][INFER_CHUNK][net->features] of x[n], normalised with each of the transforms; the first convolution is done once. */
void fused_infer_features(struct fused_infer *fused, const real *weights, size_t n, const real *x, size_t count,
                          const struct batchnorm_transform *const *transforms, real *features);

#endif

/* Forward passes by the kernels, over images that are not kept. core/infer.h is its interface to the rest. */
#ifndef BNSWEEP_CORE_FUSED_INFER_H
#define BNSWEEP_CORE_FUSED_INFER_H

#include "bnsweep/core/affine.h"
#include "bnsweep/core/infer.h"
#include "bnsweep/core/packed.h"

/* Workspace for at most INFER_CHUNK images, owned by the arena; and what of a whole set's activations fits the room: of the first
 * kept_images images what block kept_blocks - 1 lets through. */
struct fused_infer {
    const struct net *net; /* not owned */
    struct packed packed;
    struct fused_infer_block {
        real *in;     /* a few images' input [.][h+2][w+2][cin], the border 0 */
        real *chunk;  /* [INFER_CHUNK][out_h][out_w][cout] */
        real *pooled; /* the chunk under way, as struct fused_block's: in `chunk`, or where it is kept */
        struct affine affine;
        struct moments moments;
    } block[NET_MAX_BLOCKS];
    real *z;       /* a few images' convolution */
    real *average; /* [features, padded] */
    double *group_mean, *group_invstd; /* [groups] */
    struct room room;
    size_t kept_blocks, kept_images, keeping; /* keeping: how many images the moments under way will leave */
};

/* STATUS_NOMEM, STATUS_SHAPE. */
enum status fused_infer_create(struct fused_infer *fused, const struct net *net, struct room room, struct arena *arena);

/* Take over weights[net->size] for the calls that follow; they must stay. Nothing is kept yet. */
void fused_infer_set(struct fused_infer *fused, const real *weights);

/* Begin the moments of block `target` over a set of n images, which is given chunk by chunk in order; the blocks before are done. */
void fused_infer_begin(struct fused_infer *fused, size_t target, size_t n);
/* Add what the block's convolution makes of x[n], images `first` on of the set, to its moments; the blocks before it normalise with
 * `transform`. */
void fused_infer_moments(struct fused_infer *fused, const real *weights, size_t target, size_t first, size_t n, const real *x,
                         const struct batchnorm_transform *transform);
/* End them: what of the block's outputs fitted the room is kept from now on. */
void fused_infer_end(struct fused_infer *fused, size_t target);

/* features[n][net->features] of x[n], images `first` on of the set whose moments were taken last, normalised with the same transform. */
void fused_infer_again(struct fused_infer *fused, const real *weights, size_t first, size_t n, const real *x,
                       const struct batchnorm_transform *transform, real *features);

/* features[count][INFER_CHUNK][net->features] of x[n], normalised with each of the transforms; the first convolution is done once. */
void fused_infer_features(struct fused_infer *fused, const real *weights, size_t n, const real *x, size_t count,
                          const struct batchnorm_transform *const *transforms, real *features);

#endif

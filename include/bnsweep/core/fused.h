/* The training pass as the kernels compute it: a few images at a time through convolution, statistics and pool while they are in the
 * cache, and backward likewise. core/pass.h is its interface to the rest. */
#ifndef BNSWEEP_CORE_FUSED_H
#define BNSWEEP_CORE_FUSED_H

#include "bnsweep/core/affine.h"
#include "bnsweep/core/packed.h"
#include "bnsweep/core/room.h"
#include "bnsweep/core/running.h"

/* One block's buffers, channels padded; over all n images and in the room, but for `in`. */
struct fused_block {
    real *in;     /* [a few][h+2][w+2][cin], the border 0 */
    real *z;      /* [n][h][w][cout], the convolution's output */
    real *pooled; /* [n][out_h][out_w][cout], the z that each window lets through; z where there is no pool */
    real *dout;   /* [n][out_h][out_w][cout], the gradient of the block's output */
    struct affine affine;
    struct moments moments;
    struct batchnorm_transform transform;
    double *group_mean, *group_invstd; /* [n][groups], group and layer norm only */
};

struct fused {
    const struct net *net; /* not owned */
    size_t n;
    struct packed packed;
    struct fused_block block[NET_MAX_BLOCKS];
    real *dz;      /* the gradient of z, of a few images; borders 0 */
    real *average; /* [features, padded] */
};

/* Find the room that the buffers over all n images take. STATUS_SHAPE where sizes overflow. */
enum status fused_room(const struct net *net, size_t n, size_t *size);

/* Make it for n images, in that much room; net->engine has kernels. STATUS_NOMEM, STATUS_SHAPE. */
enum status fused_create(struct fused *fused, const struct net *net, size_t n, struct room room, struct arena *arena);

/* features[n][net->features] from x[n][h][w][c]; fills `batch` and `transform` as pass_forward does. STATUS_SHAPE. */
enum status fused_forward(struct fused *fused, const struct running_mode *mode, const real *weights, const real *x,
                          struct running_batch *batch, struct batchnorm_transform *transform, real *features);

/* gradient[net->size] += that of the blocks' parameters (convolution weights: =), from dfeatures[n][net->features]. */
void fused_backward(struct fused *fused, const real *weights, const real *x, const real *dfeatures, real *gradient);

/* What passes over more images than are kept, and this one, have in common. */

/* z[n][h][w][cout] of one block, bias included, from its input x[n][h+2][w+2][cin]. */
void fused_convolve(struct packed *packed, size_t index, const real *weights, size_t n, const real *x, real *z);
/* Add images z[n][h][w][cout] to the moments. */
void fused_moments(const struct packed *packed, size_t index, size_t n, const real *z, struct moments *moments);
/* Fill one image's vectors of a group norm from its z; group_mean, group_invstd [groups] are filled too. */
void fused_group(const struct packed *packed, size_t index, const real *weights, const real *z, size_t image, struct moments *moments,
                 double *group_mean, double *group_invstd, struct affine *affine);

#endif

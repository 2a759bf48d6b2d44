/* A norm layer as one affine map a channel, y = (z - mean) scale + shift, and its gradient likewise (core/block.h); vectors have their
 * channels padded to a multiple of 16, with 0. */
#ifndef BNSWEEP_CORE_AFFINE_H
#define BNSWEEP_CORE_AFFINE_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/batchnorm.h"
#include "bnsweep/core/block.h"

/* One block's vectors: of all images together, or [images][wide] where each has its own (group norm). Owned by the arena. */
struct affine {
    size_t channels, wide; /* without and with padding */
    size_t stride;         /* from an image's vectors to the next's: 0 or wide */
    real *mean, *scale, *shift, *sign, *offset, *slope;
    double *rest;          /* the mean as rounded to `real`, less the mean */
    double *sum, *sum_z;   /* block.gradient_sums: [wide] */
};

/* Make vectors for `images` images that each have their own, or for all (images = 1, stride 0). STATUS_NOMEM. */
enum status affine_create(struct affine *affine, size_t channels, size_t images, struct arena *arena);

/* Return one image's vectors. */
struct block_affine affine_of(const struct affine *affine, size_t image);
struct block_slopes affine_slopes_of(const struct affine *affine, size_t image);

/* y = z: no norm layer. */
void affine_identity(struct affine *affine);

/* The signs alone, which the pool wants before the batch's statistics are known. */
void affine_signs(const real *gamma, struct affine *affine);

/* Batch norm with this transform. */
void affine_batch(const struct batchnorm_transform *transform, const real *gamma, const real *beta, struct affine *affine);

/* Its backward pass over `rows` values a channel, from affine->sum and sum_z: fills offset and slope; dgamma, dbeta += . */
void affine_batch_backward(const struct batchnorm_transform *transform, const real *gamma, double rows, struct affine *affine,
                           real *dgamma, real *dbeta);

/* Group norm of one image of `pixels` pixels: the groups' mean and 1/std from mean and sum of squared deviations of each channel. */
struct affine_groups {
    size_t groups, pixels;
    double eps;
    double *mean, *invstd; /* [groups], out; backward: in. Not owned */
};
void affine_group(const struct affine_groups *groups, size_t image, const double *mean, const double *deviations, const real *gamma,
                  const real *beta, struct affine *affine);
void affine_group_backward(const struct affine_groups *groups, size_t image, const real *gamma, struct affine *affine, real *dgamma,
                           real *dbeta);

#endif

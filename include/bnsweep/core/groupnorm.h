/* Group normalisation (Wu and He 2018): each image's channels in groups, mean and variance over a group and all pixels.
 * One group is layer normalisation over (C, H, W) with an affine pair a channel, as in their paper. */
#ifndef BNSWEEP_CORE_GROUPNORM_H
#define BNSWEEP_CORE_GROUPNORM_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/real.h"

#include <stddef.h>

struct groupnorm_shape {
    size_t n, channels, spatial, groups; /* x[n][spatial][channels]; groups divides channels */
    double eps;
};

/* Check that there is at least one group and that groups divides channels. STATUS_SHAPE. */
enum status groupnorm_check(size_t channels, size_t groups);

/* y = gamma (x - mean) invstd + beta; mean and invstd [n][groups] are kept for the backward pass; y may be x. */
void groupnorm_forward(const struct groupnorm_shape *shape, const real *gamma, const real *beta, const real *x, double *mean,
                       double *invstd, real *y);

/* dgamma and dbeta [channels] += their gradients; dx = the gradient of x (dx may be dy); x, mean and invstd as in forward. */
void groupnorm_backward(const struct groupnorm_shape *shape, const real *gamma, const real *x, const double *mean,
                        const double *invstd, const real *dy, real *dgamma, real *dbeta, real *dx);

#endif

/* Batch normalisation over (N, C, S), channels last: Ioffe and Szegedy (2015) as PyTorch computes it, and Ioffe's batch
 * renormalisation (2017). S = 1 is BatchNorm1d on (N, C), S = L on (N, C, L), S = H W BatchNorm2d, S = D H W BatchNorm3d.
 *
 * Nothing here writes running statistics but batchnorm_update and batchnorm_update_renorm: a forward pass reads only, so that
 * a measurement in training mode leaves the layer as it was.
 */
#ifndef BNSWEEP_CORE_BATCHNORM_H
#define BNSWEEP_CORE_BATCHNORM_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/moments.h"
#include "bnsweep/core/real.h"

#include <stdbool.h>
#include <stddef.h>

struct batchnorm_shape {
    size_t n, channels, spatial; /* x[n][spatial][channels] */
};

/* The transform of one forward pass, each [channels], not owned: y = gamma (xhat r + d) + beta with xhat = (x - mean) invstd.
 * r is 1 and d is 0 but under renormalisation. `batch`: mean and invstd came from x itself, and the backward pass goes
 * through them; otherwise they are constants (evaluation mode). */
struct batchnorm_transform {
    double *mean, *invstd, *r, *d;
    bool batch;
};

/* Ioffe (2017)'s schedule: r_max = 1 and d_max = 0 for `warmup` steps, then linear to rmax at rmax_step, dmax at dmax_step. */
struct batchnorm_renorm {
    double rmax, dmax;
    double warmup, rmax_step, dmax_step;
};

/* STATUS_SHAPE ("more than 1 value per channel") where n * spatial < 2: such a batch has no variance. */
enum status batchnorm_check(const struct batchnorm_shape *shape);

/* Compute the mean and biased variance of x[n][spatial][channels] per channel into `moments` (reset first).
 * STATUS_SHAPE as batchnorm_check. */
enum status batchnorm_statistics(const struct batchnorm_shape *shape, const real *x, struct moments *moments);

/* Fill the transform from batch or other statistics: invstd = 1 / sqrt(variance + eps), r = 1, d = 0. */
void batchnorm_transform_set(size_t channels, const double *mean, const double *variance, double eps, bool batch,
                             struct batchnorm_transform *out);

/* The same from running statistics, in evaluation mode. */
void batchnorm_transform_running(size_t channels, const real *running_mean, const real *running_var, double eps,
                                 struct batchnorm_transform *out);

/* Set r = clip(sigma_B / sigma, 1/r_max, r_max) and d = clip((mu_B - mu) / sigma, -d_max, d_max) for training step `step`
 * (from 0); mu and sigma = sqrt(running_var + eps) are the running ones. The backward pass takes r and d as constants. */
void batchnorm_transform_renorm(size_t channels, const struct batchnorm_renorm *renorm, double eps, double step,
                                const real *running_mean, const real *running_var, struct batchnorm_transform *transform);

/* y[rows][channels] = gamma (xhat r + d) + beta; y may be x. */
void batchnorm_forward(size_t rows, size_t channels, const struct batchnorm_transform *transform, const real *gamma,
                       const real *beta, const real *x, real *y);

/* dgamma and dbeta [channels] += their gradients; dx[rows][channels] = the gradient of x (dx may be dy).
 * x is the forward pass's input. Nothing is divided by gamma or by the batch's deviations. */
void batchnorm_backward(size_t rows, size_t channels, const struct batchnorm_transform *transform, const real *gamma,
                        const real *x, const real *dy, real *dgamma, real *dbeta, real *dx);

/* Write the running statistics: running = (1 - momentum) running + momentum batch, momentum the weight of the new batch;
 * mean[channels] and biased variance[channels] of `count` values, of which the unbiased estimate enters. */
void batchnorm_update(size_t channels, const double *mean, const double *variance, double count, double momentum,
                      real *running_mean, real *running_var);

/* The same for renormalisation, where the average is over sigma_B = sqrt(variance + eps) as in the paper;
 * running_var = sigma^2 - eps, so that evaluation is the same for both. */
void batchnorm_update_renorm(size_t channels, const double *mean, const double *variance, double eps, double momentum,
                             real *running_mean, real *running_var);

#endif

#include "bnsweep/core/groupnorm.h"

#include <math.h>

enum status groupnorm_check(size_t channels, size_t groups)
{
    if (!groups || channels % groups)
        return status_fail(STATUS_SHAPE, "%zu groups do not divide %zu channels", groups, channels);
    return STATUS_OK;
}

/* Mean and 1/std of the group that starts at x, in two passes so that a large mean with a small spread loses nothing. */
static void group_statistics(const struct groupnorm_shape *shape, const real *x, double *mean, double *invstd)
{
    size_t width = shape->channels / shape->groups;
    double count = (double)(width * shape->spatial), sum = 0, square = 0;
    for (size_t s = 0; s < shape->spatial; s++)
        for (size_t c = 0; c < width; c++)
            sum += (double)x[s * shape->channels + c];
    *mean = sum / count;
    for (size_t s = 0; s < shape->spatial; s++)
        for (size_t c = 0; c < width; c++) {
            double d = (double)x[s * shape->channels + c] - *mean;
            square += d * d;
        }
    *invstd = 1 / sqrt(square / count + shape->eps);
}

void groupnorm_forward(const struct groupnorm_shape *shape, const real *gamma, const real *beta, const real *x, double *mean,
                       double *invstd, real *y)
{
    size_t width = shape->channels / shape->groups;
    for (size_t i = 0; i < shape->n * shape->groups; i++) {
        size_t first = i % shape->groups * width, at = i / shape->groups * shape->spatial * shape->channels + first;
        group_statistics(shape, x + at, &mean[i], &invstd[i]);
        for (size_t s = 0; s < shape->spatial; s++)
            for (size_t c = 0; c < width; c++) {
                size_t j = at + s * shape->channels + c;
                y[j] = (real)(((double)x[j] - mean[i]) * invstd[i]) * gamma[first + c] + beta[first + c];
            }
    }
}

void groupnorm_backward(const struct groupnorm_shape *shape, const real *gamma, const real *x, const double *mean,
                        const double *invstd, const real *dy, real *dgamma, real *dbeta, real *dx)
{
    size_t width = shape->channels / shape->groups;
    double count = (double)(width * shape->spatial);
    for (size_t i = 0; i < shape->n * shape->groups; i++) {
        size_t first = i % shape->groups * width, at = i / shape->groups * shape->spatial * shape->channels + first;
        double sum = 0, sum_xhat = 0; /* of gamma dy, and of gamma dy xhat, over the group */
        for (size_t c = 0; c < width; c++) {
            double channel = 0, channel_xhat = 0;
            for (size_t s = 0; s < shape->spatial; s++) {
                size_t j = at + s * shape->channels + c;
                channel += (double)dy[j];
                channel_xhat += (double)dy[j] * ((double)x[j] - mean[i]) * invstd[i];
            }
            dbeta[first + c] += (real)channel;
            dgamma[first + c] += (real)channel_xhat;
            sum += (double)gamma[first + c] * channel;
            sum_xhat += (double)gamma[first + c] * channel_xhat;
        }
        for (size_t s = 0; s < shape->spatial; s++)
            for (size_t c = 0; c < width; c++) {
                size_t j = at + s * shape->channels + c;
                double xhat = ((double)x[j] - mean[i]) * invstd[i];
                dx[j] = (real)(invstd[i] * ((double)gamma[first + c] * (double)dy[j] - sum / count - xhat * (sum_xhat / count)));
            }
    }
}

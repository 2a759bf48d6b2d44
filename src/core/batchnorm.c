#include "bnsweep/core/batchnorm.h"

#include <math.h>

enum { PART = 16, CHANNELS_AT_ONCE = 64 };

enum status batchnorm_check(const struct batchnorm_shape *shape)
{
    if (shape->n * shape->spatial < 2)
        return status_fail(STATUS_SHAPE, "Expected more than 1 value per channel when training, got input size [%zu, %zu, %zu]",
                           shape->n, shape->channels, shape->spatial);
    return STATUS_OK;
}

enum status batchnorm_statistics(const struct batchnorm_shape *shape, const real *x, struct moments *moments)
{
    enum status status = batchnorm_check(shape);
    if (status)
        return status;
    moments_reset(moments);
    moments_add(moments, shape->n * shape->spatial, x);
    return STATUS_OK;
}

void batchnorm_transform_set(size_t channels, const double *mean, const double *variance, double eps, bool batch,
                             struct batchnorm_transform *out)
{
    for (size_t c = 0; c < channels; c++) {
        out->mean[c] = mean[c];
        out->invstd[c] = 1 / sqrt(variance[c] + eps);
        out->r[c] = 1;
        out->d[c] = 0;
    }
    out->batch = batch;
}

void batchnorm_transform_running(size_t channels, const real *running_mean, const real *running_var, double eps,
                                 struct batchnorm_transform *out)
{
    for (size_t c = 0; c < channels; c++) {
        out->mean[c] = (double)running_mean[c];
        out->invstd[c] = 1 / sqrt((double)running_var[c] + eps);
        out->r[c] = 1;
        out->d[c] = 0;
    }
    out->batch = false;
}

/* `from` for the first `start` steps, `to` from step `end` on, a straight way between. */
static double ramp(double from, double to, double start, double end, double step)
{
    if (step >= end)
        return to;
    return step <= start ? from : from + (to - from) * (step - start) / (end - start);
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void batchnorm_transform_renorm(size_t channels, const struct batchnorm_renorm *renorm, double eps, double step,
                                const real *running_mean, const real *running_var, struct batchnorm_transform *transform)
{
    double rmax = ramp(1, renorm->rmax, renorm->warmup, renorm->rmax_step, step);
    double dmax = ramp(0, renorm->dmax, renorm->warmup, renorm->dmax_step, step);
    for (size_t c = 0; c < channels; c++) {
        double sigma = sqrt((double)running_var[c] + eps);
        transform->r[c] = clip(1 / (transform->invstd[c] * sigma), 1 / rmax, rmax);
        transform->d[c] = clip((transform->mean[c] - (double)running_mean[c]) / sigma, -dmax, dmax);
    }
}

void batchnorm_forward(size_t rows, size_t channels, const struct batchnorm_transform *transform, const real *gamma,
                       const real *beta, const real *x, real *y)
{
    for (size_t first = 0; first < channels; first += CHANNELS_AT_ONCE) {
        size_t here = channels - first < CHANNELS_AT_ONCE ? channels - first : CHANNELS_AT_ONCE;
        double mean[CHANNELS_AT_ONCE], scale[CHANNELS_AT_ONCE], shift[CHANNELS_AT_ONCE]; /* so that y is rounded once */
        for (size_t c = 0; c < here; c++) {
            double g = (double)gamma[first + c];
            mean[c] = transform->mean[first + c];
            scale[c] = g * transform->invstd[first + c] * transform->r[first + c];
            shift[c] = (double)beta[first + c] + g * transform->d[first + c];
        }
        for (size_t row = 0; row < rows; row++) {
            const real *from = x + row * channels + first;
            real *to = y + row * channels + first;
            for (size_t c = 0; c < here; c++)
                to[c] = (real)(((double)from[c] - mean[c]) * scale[c] + shift[c]);
        }
    }
}

/* sum_dy[c] = sum of dy, sum_dyx[c] = sum of dy (x - mean), over rows: parts of PART rows in `real`, the rest in double. */
static void sum_gradients(size_t rows, size_t stride, size_t channels, const real *x, const real *dy, const real *mean,
                          double *sum_dy, double *sum_dyx)
{
    for (size_t c = 0; c < channels; c++)
        sum_dy[c] = sum_dyx[c] = 0;
    for (size_t at = 0; at < rows; at += PART) {
        real part_dy[CHANNELS_AT_ONCE] = {0}, part_dyx[CHANNELS_AT_ONCE] = {0};
        size_t end = rows - at < PART ? rows : at + PART;
        for (size_t row = at; row < end; row++)
            for (size_t c = 0; c < channels; c++) {
                real g = dy[row * stride + c];
                part_dy[c] += g;
                part_dyx[c] += g * (x[row * stride + c] - mean[c]);
            }
        for (size_t c = 0; c < channels; c++) {
            sum_dy[c] += (double)part_dy[c];
            sum_dyx[c] += (double)part_dyx[c];
        }
    }
}

/* At most CHANNELS_AT_ONCE channels; the arguments point at the first of them, `stride` apart from row to row.
 * With s = gamma invstd r:  dx = s (dy - mean(dy) - (x - mean) invstd^2 mean(dy (x - mean)))  where the statistics are the
 * batch's own, dx = s dy where they are constants. */
static void backward_channels(size_t rows, size_t stride, size_t channels, const struct batchnorm_transform *transform,
                              const real *gamma, const real *x, const real *dy, real *dgamma, real *dbeta, real *dx)
{
    real mean[CHANNELS_AT_ONCE], scale[CHANNELS_AT_ONCE], offset[CHANNELS_AT_ONCE], slope[CHANNELS_AT_ONCE];
    double sum_dy[CHANNELS_AT_ONCE], sum_dyx[CHANNELS_AT_ONCE];
    for (size_t c = 0; c < channels; c++)
        mean[c] = (real)transform->mean[c];
    sum_gradients(rows, stride, channels, x, dy, mean, sum_dy, sum_dyx);
    for (size_t c = 0; c < channels; c++) {
        double invstd = transform->invstd[c], r = transform->r[c];
        dbeta[c] += (real)sum_dy[c];
        dgamma[c] += (real)(r * invstd * sum_dyx[c] + transform->d[c] * sum_dy[c]);
        scale[c] = (real)((double)gamma[c] * invstd * r);
        offset[c] = (real)(transform->batch ? sum_dy[c] / (double)rows : 0);
        slope[c] = (real)(transform->batch ? invstd * invstd * sum_dyx[c] / (double)rows : 0);
    }
    for (size_t row = 0; row < rows; row++) {
        const real *g = dy + row * stride, *from = x + row * stride;
        real *to = dx + row * stride;
        for (size_t c = 0; c < channels; c++)
            to[c] = scale[c] * ((g[c] - offset[c]) - (from[c] - mean[c]) * slope[c]);
    }
}

void batchnorm_backward(size_t rows, size_t channels, const struct batchnorm_transform *transform, const real *gamma,
                        const real *x, const real *dy, real *dgamma, real *dbeta, real *dx)
{
    for (size_t first = 0; first < channels; first += CHANNELS_AT_ONCE) {
        size_t here = channels - first < CHANNELS_AT_ONCE ? channels - first : CHANNELS_AT_ONCE;
        struct batchnorm_transform part = {transform->mean + first, transform->invstd + first, transform->r + first,
                                           transform->d + first, transform->batch};
        backward_channels(rows, channels, here, &part, gamma + first, x + first, dy + first, dgamma + first, dbeta + first,
                          dx + first);
    }
}

void batchnorm_update(size_t channels, const double *mean, const double *variance, double count, double momentum,
                      real *running_mean, real *running_var)
{
    double unbiased = count / (count - 1);
    for (size_t c = 0; c < channels; c++) {
        running_mean[c] = (real)((1 - momentum) * (double)running_mean[c] + momentum * mean[c]);
        running_var[c] = (real)((1 - momentum) * (double)running_var[c] + momentum * variance[c] * unbiased);
    }
}

void batchnorm_update_renorm(size_t channels, const double *mean, const double *variance, double eps, double momentum,
                             real *running_mean, real *running_var)
{
    for (size_t c = 0; c < channels; c++) {
        double sigma = (1 - momentum) * sqrt((double)running_var[c] + eps) + momentum * sqrt(variance[c] + eps);
        running_mean[c] = (real)((1 - momentum) * (double)running_mean[c] + momentum * mean[c]);
        running_var[c] = (real)(sigma * sigma - eps);
    }
}

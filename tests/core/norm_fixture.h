/* One batch-norm layer for tests: its moments, its transform and its running statistics. */
#ifndef BNSWEEP_TESTS_NORM_FIXTURE_H
#define BNSWEEP_TESTS_NORM_FIXTURE_H

#include "numbers.h"

#include "bnsweep/core/batchnorm.h"

enum { NORM_CHANNELS = 80 }; /* at most; more than the kernels take at once */

struct norm {
    struct arena arena;
    struct moments moments;
    size_t channels;
    double variance[NORM_CHANNELS], mean[NORM_CHANNELS], invstd[NORM_CHANNELS], r[NORM_CHANNELS], d[NORM_CHANNELS];
    struct batchnorm_transform transform;
    real gamma[NORM_CHANNELS], beta[NORM_CHANNELS], running_mean[NORM_CHANNELS], running_var[NORM_CHANNELS];
};

static inline void norm_create(struct norm *norm, size_t channels)
{
    *norm = (struct norm){.channels = channels};
    norm->transform = (struct batchnorm_transform){norm->mean, norm->invstd, norm->r, norm->d, false};
    for (size_t c = 0; c < channels; c++)
        norm->gamma[c] = norm->running_var[c] = 1;
    assert_ok(moments_create(&norm->moments, channels, &norm->arena));
}

/* The statistics of x[n][spatial][channels], and the transform of training mode. */
static inline enum status norm_statistics(struct norm *norm, size_t n, size_t spatial, double eps, const real *x)
{
    struct batchnorm_shape shape = {n, norm->channels, spatial};
    enum status status = batchnorm_statistics(&shape, x, &norm->moments);
    if (status)
        return status;
    moments_variance(&norm->moments, norm->variance);
    batchnorm_transform_set(norm->channels, norm->moments.mean, norm->variance, eps, true, &norm->transform);
    return STATUS_OK;
}

static inline void norm_update(struct norm *norm, size_t rows, double momentum)
{
    batchnorm_update(norm->channels, norm->moments.mean, norm->variance, (double)rows, momentum, norm->running_mean,
                     norm->running_var);
}

static inline void norm_free(struct norm *norm)
{
    arena_free(&norm->arena);
}

#endif

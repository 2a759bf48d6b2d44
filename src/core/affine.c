/* `mean` is rounded to `real`, so that z - mean is exact where a small spread lies on a large mean; what rounding took off (`rest`) is
 * put into the shift, or into the sums of a gradient. Nothing is divided by gamma. */
#include "bnsweep/core/affine.h"

#include "bnsweep/core/packed.h"

#include <math.h>
#include <string.h>

enum status affine_create(struct affine *affine, size_t channels, size_t images, struct arena *arena)
{
    size_t wide = packed_channels(channels);
    *affine = (struct affine){.channels = channels, .wide = wide, .stride = images > 1 ? wide : 0};
    real **vectors[] = {&affine->mean, &affine->scale, &affine->shift, &affine->sign, &affine->offset, &affine->slope};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = arena_array(arena, wide, images * sizeof(real))))
            return STATUS_NOMEM;
    affine->rest = arena_array(arena, wide, images * sizeof(double));
    affine->sum = arena_array(arena, wide, sizeof(double));
    affine->sum_z = arena_array(arena, wide, sizeof(double));
    return affine->rest && affine->sum && affine->sum_z ? STATUS_OK : STATUS_NOMEM;
}

struct block_affine affine_of(const struct affine *affine, size_t image)
{
    size_t at = image * affine->stride;
    return (struct block_affine){affine->mean + at, affine->scale + at, affine->shift + at, affine->sign};
}

struct block_slopes affine_slopes_of(const struct affine *affine, size_t image)
{
    size_t at = image * affine->stride;
    return (struct block_slopes){affine->offset + at, affine->slope + at};
}

void affine_identity(struct affine *affine)
{
    for (size_t c = 0; c < affine->channels; c++)
        affine->scale[c] = affine->sign[c] = 1;
}

void affine_signs(const real *gamma, struct affine *affine)
{
    for (size_t c = 0; c < affine->channels; c++)
        affine->sign[c] = (real)((gamma[c] > 0) - (gamma[c] < 0));
}

/* Entry `at`: y = (z - mean) scale + shift. */
static void set(struct affine *affine, size_t at, double mean, double scale, double shift)
{
    affine->mean[at] = (real)mean;
    affine->rest[at] = (double)affine->mean[at] - mean;
    affine->scale[at] = (real)scale;
    affine->shift[at] = (real)(shift + affine->rest[at] * scale);
}

/* Entry `at`: dz = scale g - (offset + (z - mean) slope). */
static void set_slope(struct affine *affine, size_t at, double offset, double slope)
{
    affine->offset[at] = (real)(offset + affine->rest[at] * slope);
    affine->slope[at] = (real)slope;
}

void affine_batch(const struct batchnorm_transform *transform, const real *gamma, const real *beta, struct affine *affine)
{
    for (size_t c = 0; c < affine->channels; c++) {
        double g = (double)gamma[c];
        set(affine, c, transform->mean[c], g * transform->invstd[c] * transform->r[c], (double)beta[c] + g * transform->d[c]);
    }
    affine_signs(gamma, affine);
}

void affine_batch_backward(const struct batchnorm_transform *transform, const real *gamma, double rows, struct affine *affine,
                           real *dgamma, real *dbeta)
{
    for (size_t c = 0; c < affine->channels; c++) {
        double invstd = transform->invstd[c], r = transform->r[c], sum = affine->sum[c], scale = (double)gamma[c] * invstd * r;
        double sum_z = affine->sum_z[c] + affine->rest[c] * sum;
        dbeta[c] += (real)sum;
        dgamma[c] += (real)(r * invstd * sum_z + transform->d[c] * sum);
        if (transform->batch)
            set_slope(affine, c, scale * sum / rows, scale * invstd * invstd * sum_z / rows);
        else
            set_slope(affine, c, 0, 0);
    }
}

void affine_group(const struct affine_groups *groups, size_t image, const double *mean, const double *deviations, const real *gamma,
                  const real *beta, struct affine *affine)
{
    size_t width = affine->channels / groups->groups;
    for (size_t k = 0; k < groups->groups; k++) {
        double sum = 0, square = 0, pixels = (double)groups->pixels;
        for (size_t c = k * width; c < (k + 1) * width; c++)
            sum += mean[c];
        double group = sum / (double)width;
        for (size_t c = k * width; c < (k + 1) * width; c++)
            square += deviations[c] + pixels * (mean[c] - group) * (mean[c] - group);
        groups->mean[k] = group;
        groups->invstd[k] = 1 / sqrt(square / (pixels * (double)width) + groups->eps);
        for (size_t c = k * width; c < (k + 1) * width; c++)
            set(affine, image * affine->stride + c, group, (double)gamma[c] * groups->invstd[k], (double)beta[c]);
    }
}

void affine_group_backward(const struct affine_groups *groups, size_t image, const real *gamma, struct affine *affine, real *dgamma,
                           real *dbeta)
{
    size_t width = affine->channels / groups->groups, at = image * affine->stride;
    double count = (double)(width * groups->pixels);
    for (size_t k = 0; k < groups->groups; k++) {
        double invstd = groups->invstd[k], sum = 0, sum_xhat = 0; /* of gamma g, and of gamma g xhat, over the group */
        for (size_t c = k * width; c < (k + 1) * width; c++) {
            double xhat = invstd * (affine->sum_z[c] + affine->rest[at + c] * affine->sum[c]);
            dbeta[c] += (real)affine->sum[c];
            dgamma[c] += (real)xhat;
            sum += (double)gamma[c] * affine->sum[c];
            sum_xhat += (double)gamma[c] * xhat;
        }
        for (size_t c = k * width; c < (k + 1) * width; c++)
            set_slope(affine, at + c, invstd * sum / count, invstd * invstd * sum_xhat / count);
    }
}

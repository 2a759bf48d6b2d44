#include "bnsweep/measure/swap.h"

#include "bnsweep/core/rng.h"

#include <math.h>
#include <stdlib.h>

static double key_of(const double *values, uint32_t channel)
{
    return isnan(values[channel]) ? -1 : fabs(values[channel]);
}

static int compare_channels(const void *a, const void *b, void *values)
{
    uint32_t channel_a = *(const uint32_t *)a, channel_b = *(const uint32_t *)b;
    double key_a = key_of(values, channel_a), key_b = key_of(values, channel_b);
    if (key_a != key_b)
        return key_a > key_b ? -1 : 1;
    return channel_a < channel_b ? -1 : 1;
}

void swap_order(const struct net *net, enum plan_order kind, double *mean_lag, double *angle, uint32_t seed,
                uint64_t step, uint32_t *order)
{
    if (kind == PLAN_ORDER_RANDOM) {
        rng_permutation((struct rng_stream){seed, RNG_SWAP_ORDER, step}, net->channels, order);
        return;
    }
    for (size_t c = 0; c < net->channels; c++)
        order[c] = (uint32_t)c;
    qsort_r(order, net->channels, sizeof *order, compare_channels, kind == PLAN_ORDER_LAG ? mean_lag : angle);
}

static void take_channel(size_t c, const struct batchnorm_transform *from, struct batchnorm_transform *to)
{
    to->mean[c] = from->mean[c];
    to->invstd[c] = from->invstd[c];
    to->r[c] = from->r[c];
    to->d[c] = from->d[c];
}

void swap_channels(const uint32_t *order, size_t first, size_t count, const struct batchnorm_transform *fresh,
                   struct batchnorm_transform *transform)
{
    for (size_t i = first; i < first + count; i++)
        take_channel(order[i], fresh, transform);
}

void swap_copy(size_t channels, const struct batchnorm_transform *from, struct batchnorm_transform *transform)
{
    for (size_t c = 0; c < channels; c++)
        take_channel(c, from, transform);
    transform->batch = from->batch;
}

void swap_layer(const struct net *net, size_t block, const struct batchnorm_transform *fresh, struct batchnorm_transform *transform)
{
    for (size_t c = 0; c < net->block[block].conv.cout; c++)
        take_channel(net->block[block].first_channel + c, fresh, transform);
}

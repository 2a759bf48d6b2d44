/* Swapping statistics: evaluation with some channels' running statistics replaced by fresh ones, every weight left alone. */
#ifndef BNSWEEP_MEASURE_SWAP_H
#define BNSWEEP_MEASURE_SWAP_H

#include "bnsweep/core/running.h"
#include "bnsweep/measure/plan.h"

#include <stdint.h>

/* Fill order[net->channels] with the channels from the first to be swapped on: by |mean_lag| or by angle ([channels], largest first,
 * NaN last, ties by number), or a random order from (seed, step). */
void swap_order(const struct net *net, enum plan_order kind, double *mean_lag, double *angle, uint32_t seed,
                uint64_t step, uint32_t *order);

/* Replace in `transform` the channels order[first .. first + count) by the fresh ones. Both are whole-network transforms;
 * copying back from the original is the identity. */
void swap_channels(const uint32_t *order, size_t first, size_t count, const struct batchnorm_transform *fresh,
                   struct batchnorm_transform *transform);

/* Make `transform` a copy of `from`, [channels]. */
void swap_copy(size_t channels, const struct batchnorm_transform *from, struct batchnorm_transform *transform);

/* Replace one block's channels. */
void swap_layer(const struct net *net, size_t block, const struct batchnorm_transform *fresh, struct batchnorm_transform *transform);

#endif

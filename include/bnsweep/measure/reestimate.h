/* Re-estimation: reset the running statistics and take their plain average over training batches run forward without a gradient
 * step (as PyTorch's BatchNorm with momentum None does), for weights that stay as they are. Works on a copy. */
#ifndef BNSWEEP_MEASURE_REESTIMATE_H
#define BNSWEEP_MEASURE_REESTIMATE_H

#include "bnsweep/core/pass.h"
#include "bnsweep/core/running.h"
#include "bnsweep/core/task.h"

/* Called when `count` batches are averaged: statistics hold the means and the unbiased variances so far. */
typedef void reestimate_visit(void *context, size_t index, const struct running *statistics);

/* Average over the re-estimation batches 0 .. counts[n-1] - 1 and call `visit` at each of the rising counts[n].
 * Renormalisation runs as plain batch normalisation here, since the reset leaves it nothing to correct towards; held layers keep
 * `held_statistics` (the network's own running ones). Overwrites the pass's buffers; `average` is overwritten.
 * Errors are pass_forward's. */
enum status reestimate(struct pass *pass, struct task *task, const bool *held, const struct running *held_statistics,
                       const real *weights, size_t n, const uint64_t *counts, struct running *average,
                       struct running_batch *sums, reestimate_visit *visit, void *context);

#endif

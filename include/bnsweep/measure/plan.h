/* When and what is measured: the steps of checks and of trace samples, and the costly measurements' switches. */
#ifndef BNSWEEP_MEASURE_PLAN_H
#define BNSWEEP_MEASURE_PLAN_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/kinds.h"
#include "bnsweep/measure/variables.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLAN_MAX_LIST = 8 };

/* Steps are counted after they are done: step s is the state after s updates. */
struct plan {
    uint64_t steps, first_check, check_every, angle_window;
    uint64_t trace_every; /* 0: no trace */
    uint64_t val_size, probe_size;
    bool keep_batch_stats;   /* every step's batch statistics, and the weights at checks, are measured values too */
    bool probe_writes_stats; /* the training-mode validation pass also writes the running statistics, as a careless script does */
    enum when_kind reest, swap_layer, swap_top, ema;
    size_t reest_count, ema_count;
    uint64_t reest_batches[PLAN_MAX_LIST]; /* rising */
    double ema_decays[PLAN_MAX_LIST];
};

/* The orders in which channels are swapped: X(NAME, name, meaning). */
#define PLAN_ORDERS(X)                                          \
    X(LAG, "lag", "largest |mean_lag| first")                   \
    X(ANGLE, "angle", "largest angle first")                    \
    X(RANDOM, "random", "a seeded random order a check")
enum plan_order {
#define X(name, text, meaning) PLAN_ORDER_##name,
    PLAN_ORDERS(X)
#undef X
        PLAN_ORDER_COUNT
};
extern const char *const plan_order_names[PLAN_ORDER_COUNT];

/* Check the plan against itself. STATUS_INPUT with what does not fit. */
enum status plan_check(const struct plan *plan);

uint64_t plan_check_count(const struct plan *plan);
/* Return the step of check number `index`, from 0. */
uint64_t plan_check_step(const struct plan *plan, uint64_t index);
/* Return whether step `step` is a check, and in `index` (unless NULL) its number. */
bool plan_is_check(const struct plan *plan, uint64_t step, uint64_t *index);

uint64_t plan_sample_count(const struct plan *plan);
/* Return the step of trace sample number `index`, from 0: trace_every, 2 trace_every, ... */
uint64_t plan_sample_step(const struct plan *plan, uint64_t index);
bool plan_is_sample(const struct plan *plan, uint64_t step, uint64_t *index);

/* Return how many k there are (1, 2, 4, ..., and all channels at the end), and the k of a number from 0. */
size_t plan_k_count(size_t channels);
size_t plan_k(size_t channels, size_t index);

/* Return whether a measurement with this switch is due at a check; `accuracy` is acc_eval there. */
bool plan_due(enum when_kind when, bool last, double accuracy);

/* Return the store's axes for a network of so many channels and blocks; an axis no measurement uses has length 0, and so has
 * `parameters`, which the plan does not know. */
struct variables_extent plan_extent(const struct plan *plan, size_t channels, size_t layers);

#endif

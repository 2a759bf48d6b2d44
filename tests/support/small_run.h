/* A small trajectory for tests, and a sink that keeps all it is given. */
#ifndef BNSWEEP_TESTS_SMALL_RUN_H
#define BNSWEEP_TESTS_SMALL_RUN_H

#include "numbers.h"

#include <stdlib.h>

#include "bnsweep/run/trajectory.h"

/* 12 steps of two blocks (3 and 5 channels, 6x6 images of 2 channels, 3 classes) with Adam at a high rate; checks at 4, 7 and 10
 * with every measurement, a trace every second step. */
static inline struct trajectory_config small_run_config(void)
{
    struct trajectory_config config = {
        .net = {.blocks = 2, .channels = {3, 5}, .image_channels = 2, .image_h = 6, .image_w = 6, .classes = 3, .norm = NORM_BATCH,
                .groups = 1, .eps = 1e-5, .renorm = {.rmax = 3, .dmax = 5, .warmup = 2, .rmax_step = 5, .dmax_step = 8}},
        .optim = {.kind = OPTIM_ADAM, .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
        .schedule = {.kind = SCHEDULE_CONSTANT, .lr = 0.02, .steps = 12, .interval = 3, .gamma = 0.8, .peak = 0.3, .div = 25,
                     .final_div = 1e4},
        .task = {.data = DATA_TEMPLATES, .noise = 1, .signal = 0.6, .classes = 3, .image_channels = 2, .image_h = 6, .image_w = 6,
                 .seed = 5, .task_seed = 6, .batch = 6, .val_size = 20},
        .plan = {.steps = 12, .first_check = 4, .check_every = 3, .angle_window = 3, .trace_every = 2, .val_size = 20,
                 .probe_size = 7, .reest = WHEN_ALWAYS, .swap_layer = WHEN_ALWAYS, .swap_top = WHEN_ALWAYS, .ema = WHEN_ALWAYS,
                 .reest_count = 2, .reest_batches = {1, 3}, .ema_count = 1, .ema_decays = {0.9}},
        .seed = 5,
        .momenta_count = 1,
        .momenta = {0.1},
    };
    return config;
}

struct small_run_record {
    size_t unit;
    enum variable_group group;
    uint32_t index;
    size_t count;
    double *values; /* owned */
};

/* Zero-initialise; free with small_run_forget. */
struct small_run_records {
    size_t count;
    struct small_run_record list[256];
};

static inline enum status small_run_keep(void *context, size_t unit, enum variable_group group, uint32_t index,
                                         const double *values, size_t count)
{
    struct small_run_records *records = context;
    assert_true(records->count < sizeof records->list / sizeof *records->list);
    struct small_run_record *record = &records->list[records->count++];
    *record = (struct small_run_record){unit, group, index, count, malloc(count * sizeof *values + 1)};
    assert_non_null(record->values);
    memcpy(record->values, values, count * sizeof *values);
    return STATUS_OK;
}

static inline void small_run_forget(struct small_run_records *records)
{
    for (size_t i = 0; i < records->count; i++)
        free(records->list[i].values);
    records->count = 0;
}

static inline struct trajectory *small_run_create(const struct trajectory_config *config, struct small_run_records *records)
{
    struct trajectory *trajectory;
    struct trajectory_sink sink = {records, small_run_keep};
    assert_ok(trajectory_create(&trajectory, config, &sink));
    return trajectory;
}

static inline void small_run_steps(struct trajectory *trajectory, uint64_t until)
{
    while (trajectory->step < until)
        assert_ok(trajectory_step(trajectory));
}

/* The record of one unit, group and index; fails where it is not there. */
static inline const struct small_run_record *small_run_find(const struct small_run_records *records, size_t unit,
                                                            enum variable_group group, uint32_t index)
{
    for (size_t i = 0; i < records->count; i++)
        if (records->list[i].unit == unit && records->list[i].group == group && records->list[i].index == index)
            return &records->list[i];
    fail_msg("no record of unit %zu, group %d, index %u", unit, group, index);
    return NULL;
}

/* The same bits, NaNs and all. */
static inline bool small_run_same(const struct small_run_record *a, const struct small_run_record *b)
{
    return a->group == b->group && a->index == b->index && a->count == b->count &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0;
}

#endif

/* A trajectory's saved state: loaded as it lies and with a right checksum; one that is taken is trained on. */
#include "target.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/run/state.h"

#include <string.h>

enum { CHECKSUM_SIZE = 8 };

static enum status ignore(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    (void)context, (void)unit, (void)group, (void)index, (void)values, (void)count;
    return STATUS_OK;
}

static struct trajectory *create(void)
{
    struct trajectory_config config = {
        .net = {.blocks = 1, .channels = {1}, .image_channels = 1, .image_h = 2, .image_w = 2, .classes = 2, .norm = NORM_BATCH,
                .groups = 1, .eps = 1e-5},
        .optim = {.kind = OPTIM_ADAM, .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
        .schedule = {.kind = SCHEDULE_CONSTANT, .lr = 0.02, .steps = 12, .interval = 3, .gamma = 0.8, .peak = 0.3, .div = 25,
                     .final_div = 1e4},
        .task = {.data = DATA_TEMPLATES, .noise = 1, .signal = 0.6, .classes = 2, .image_channels = 1, .image_h = 2, .image_w = 2,
                 .seed = 5, .task_seed = 6, .batch = 6, .val_size = 20},
        .plan = {.steps = 12, .first_check = 4, .check_every = 3, .angle_window = 1, .trace_every = 2, .val_size = 20,
                 .probe_size = 7},
        .seed = 5, .momenta_count = 1, .momenta = {0.1}};
    struct trajectory_sink sink = {NULL, ignore};
    struct trajectory *trajectory;
    if (trajectory_create(&trajectory, &config, &sink))
        abort();
    return trajectory;
}

static void load(const uint8_t *bytes, size_t size)
{
    static struct trajectory *trajectory;
    if (!trajectory)
        trajectory = create();
    if (state_load(trajectory, target_file(bytes, size, ""), (struct hash){1, 2}))
        return;
    if (trajectory->step < trajectory->config.plan.steps)
        trajectory_step(trajectory);
    trajectory_free(trajectory);
    trajectory = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    load(bytes, size);
    if (size < CHECKSUM_SIZE)
        return 0;
    uint8_t *copy = target_copy(bytes, size);
    uint64_t checksum = hash_checksum(copy, size - CHECKSUM_SIZE, 0);
    memcpy(copy + size - CHECKSUM_SIZE, &checksum, sizeof checksum);
    load(copy, size);
    free(copy);
    return 0;
}

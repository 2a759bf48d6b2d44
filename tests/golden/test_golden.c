/* The core against PyTorch's traces (expected.h5): ten arms of golden.ini, every quantity, every check.
 * In float: no further from PyTorch's float64 trace than 4 times PyTorch's own float32 trace is (RMS over checks and channels).
 * In double: PyTorch's float64 trace itself; see double_tolerance for the one exception. */
#include "bnsweep/run/trajectory.h"

#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define FACTOR 4.0
#define FLOOR 2e-6

enum { STEPS = 20, EVERY = 5, CHECKS = 4, CHANNELS = 160, VAL = 64, TRAIN = 320, PIXELS = 3 * 32 * 32 };

static struct task_images images;
static struct init_tensor tensors[5];

static void *read_dataset(hid_t place, const char *name, hid_t type, size_t size, size_t expected)
{
    hid_t set = H5Dopen2(place, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    if (expected)
        assert_int_equal(count, expected);
    void *values = malloc((size_t)count * size);
    assert_non_null(values);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return values;
}

static int load(void **state)
{
    (void)state;
    hid_t data = H5Fopen(BNSWEEP_TEST_DATA "/golden/data.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t init = H5Fopen(BNSWEEP_TEST_DATA "/golden/init.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    images = (struct task_images){3, 32, 32, TRAIN, VAL,
                                  read_dataset(data, "train_x", H5T_NATIVE_FLOAT, sizeof(float), TRAIN * PIXELS),
                                  read_dataset(data, "val_x", H5T_NATIVE_FLOAT, sizeof(float), VAL * PIXELS),
                                  read_dataset(data, "train_y", H5T_NATIVE_INT32, sizeof(int32_t), TRAIN),
                                  read_dataset(data, "val_y", H5T_NATIVE_INT32, sizeof(int32_t), VAL)};
    static const struct init_tensor shapes[5] = {{"conv1.weight", 4, {32, 3, 3, 3}, NULL},
                                                 {"conv2.weight", 4, {64, 32, 3, 3}, NULL},
                                                 {"conv3.weight", 4, {64, 64, 3, 3}, NULL},
                                                 {"linear.weight", 2, {10, 64}, NULL},
                                                 {"linear.bias", 1, {10}, NULL}};
    for (int i = 0; i < 5; i++) {
        tensors[i] = shapes[i];
        tensors[i].values = read_dataset(init, shapes[i].name, H5T_NATIVE_FLOAT, sizeof(float), 0);
    }
    H5Fclose(data);
    H5Fclose(init);
    return 0;
}

static struct trajectory_config base_config(void)
{
    return (struct trajectory_config){
        .net = {.blocks = 3, .channels = {32, 64, 64}, .image_channels = 3, .image_h = 32, .image_w = 32, .classes = 10,
                .norm = NORM_BATCH, .groups = 8, .eps = 1e-5},
        .optim = {.kind = OPTIM_ADAM, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
        .schedule = {.lr = 3e-3, .steps = STEPS},
        .task = {.data = DATA_FILE, .classes = 10, .image_channels = 3, .image_h = 32, .image_w = 32, .images = &images,
                 .order = ORDER_SEQUENTIAL, .batch = 16, .val_size = VAL},
        .plan = {.steps = STEPS, .first_check = EVERY, .check_every = EVERY, .angle_window = EVERY, .val_size = VAL, .probe_size = VAL},
        .momenta_count = 1,
        .momenta = {0.03},
        .init_count = 5,
        .init = tensors,
    };
}

static struct trajectory_config arm_config(const char *arm)
{
    struct trajectory_config c = base_config();
    if (strncmp(arm, "sgd", 3) == 0) {
        c.optim = (struct optim_config){.kind = OPTIM_SGD, .momentum = 0.9, .weight_decay = strcmp(arm, "sgd_wd") == 0 ? 5e-4 : 0};
        c.schedule.lr = 0.05;
    }
    if (strcmp(arm, "adam_slow") == 0)
        c.schedule.lr = 3e-4;
    if (strcmp(arm, "adam_cos") == 0)
        c.schedule.kind = SCHEDULE_COSINE;
    if (strcmp(arm, "adamw") == 0) {
        c.optim.kind = OPTIM_ADAMW;
        c.optim.weight_decay = 0.05;
    }
    if (strcmp(arm, "adam_proj") == 0)
        c.optim.project = true;
    if (strcmp(arm, "adam_m30") == 0)
        c.momenta[0] = 0.3;
    if (strcmp(arm, "adam_group") == 0)
        c.net.norm = NORM_GROUP;
    if (strcmp(arm, "adam_layer") == 0)
        c.net.norm = NORM_LAYER;
    return c;
}

static double *records; /* [CHECKS][record] */

static enum status keep(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    (void)context;
    (void)unit;
    if (group == GROUP_CHECK)
        memcpy(records + index * count, values, count * sizeof *values);
    return STATUS_OK;
}

/* The float64 trace is reproduced to rounding but in the Adam arms, where a gradient that is zero but for rounding has an update
 * of full size and either sign: those weights are few, and move angles and cosines of single channels a little. */
static double double_tolerance(const char *arm)
{
    return strncmp(arm, "sgd", 3) == 0 ? 1e-9 : 1e-6;
}

static bool row_holds(const char *arm, const char *name, const double *got, const double *f32, const double *f64, size_t count)
{
    double ours = 0, theirs = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        ours += (got[i] - f64[i]) * (got[i] - f64[i]);
        theirs += (f32[i] - f64[i]) * (f32[i] - f64[i]);
        scale += f64[i] * f64[i];
    }
    double n = (double)count;
    ours = sqrt(ours / n), theirs = sqrt(theirs / n), scale = fmax(sqrt(scale / n), 1);
    double allowed = sizeof(real) == sizeof(double) ? double_tolerance(arm) * scale : FACTOR * theirs + FLOOR * scale;
    bool holds = ours <= allowed;
    if (!holds || getenv("BNSWEEP_TEST_VERBOSE"))
        print_message("%-11s %-15s distance %.3g, allowed %.3g, PyTorch float32's %.3g\n", arm, name, ours, allowed, theirs);
    return holds;
}

static int compare(hid_t expected, const char *arm, const struct trajectory *t)
{
    int bad = 0, rows = 0;
    size_t record = variables_record_size(GROUP_CHECK, &t->extent);
    for (int id = 0; id < VARIABLE_COUNT; id++) {
        const char *name = variables_table[id].name;
        char path32[64], path64[64];
        size_t size = variables_size((enum variable_id)id, &t->extent), offset = variables_offset((enum variable_id)id, &t->extent);
        snprintf(path32, sizeof path32, "%s/float32/%s", arm, name);
        snprintf(path64, sizeof path64, "%s/float64/%s", arm, name);
        if (variables_table[id].group != GROUP_CHECK || H5Lexists(expected, path64, H5P_DEFAULT) <= 0)
            continue;
        bool loss = id == VARIABLE_loss;
        size_t stored = loss ? STEPS : CHECKS * size;
        double *f32 = read_dataset(expected, path32, H5T_NATIVE_DOUBLE, sizeof(double), stored);
        double *f64 = read_dataset(expected, path64, H5T_NATIVE_DOUBLE, sizeof(double), stored), got[CHECKS * CHANNELS];
        for (size_t check = 0; check < CHECKS; check++) {
            memcpy(got + check * size, records + check * record + offset, size * sizeof *got);
            for (int step = 1; loss && step < EVERY; step++) { /* the mean of the window, in place */
                f32[check * EVERY] += f32[check * EVERY + (size_t)step];
                f64[check * EVERY] += f64[check * EVERY + (size_t)step];
            }
            if (loss) {
                f32[check] = f32[check * EVERY] / EVERY;
                f64[check] = f64[check * EVERY] / EVERY;
            }
        }
        bad += !row_holds(arm, name, got, f32, f64, CHECKS * size);
        rows++;
        free(f32);
        free(f64);
    }
    assert_true(rows >= 9);
    return bad;
}

static void run_arm(const char *arm)
{
    struct trajectory_config config = arm_config(arm);
    struct trajectory_sink sink = {NULL, keep};
    struct trajectory *t;
    records = calloc(CHECKS, 8192 * sizeof *records);
    assert_non_null(records);
    assert_ok(trajectory_create(&t, &config, &sink));
    for (int step = 0; step < STEPS; step++)
        assert_ok(trajectory_step(t));
    hid_t expected = H5Fopen(BNSWEEP_TEST_DATA "/golden/expected.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    int bad = compare(expected, arm, t);
    H5Fclose(expected);
    trajectory_free(t);
    free(records);
    assert_int_equal(bad, 0);
}

#define ARMS(X) X(sgd) X(adam) X(adam_slow) X(adam_cos) X(adamw) X(adam_proj) X(adam_m30) X(sgd_wd) X(adam_group) X(adam_layer)
#define X(arm)                          \
    static void golden_##arm(void **state) \
    {                                   \
        (void)state;                    \
        run_arm(#arm);                  \
    }
ARMS(X)
#undef X

int main(void)
{
    const struct CMUnitTest tests[] = {
#define X(arm) cmocka_unit_test(golden_##arm),
        ARMS(X)
#undef X
    };
    return cmocka_run_group_tests(tests, load, NULL);
}

/* Freezing a layer does not freeze its batch norm: live statistics follow the data though the weights stand still; held ones
 * do not. The data change half way: a file whose second half is brighter. */
#include "small_run.h"

enum { IMAGE = 2 * 6 * 6, BATCH = 6, HALF = 20, TRAIN = 2 * HALF * BATCH, VAL = 20 };

static float x[TRAIN * IMAGE];
static int32_t y[TRAIN];
static const struct task_images images = {2, 6, 6, TRAIN, VAL, x, x, y, y};

static struct trajectory_config backbone(enum freeze_stats_kind stats)
{
    struct trajectory_config config = small_run_config();
    uint64_t seed = 8;
    for (size_t i = 0; i < TRAIN * IMAGE; i++)
        x[i] = (float)(numbers_next(&seed) + (i >= TRAIN * IMAGE / 2 ? 3 : 0));
    for (int i = 0; i < TRAIN; i++)
        y[i] = i % 3;
    config.task.data = DATA_FILE;
    config.task.order = ORDER_SEQUENTIAL;
    config.task.images = &images;
    config.plan.steps = config.schedule.steps = 2 * HALF;
    config.plan.first_check = config.plan.check_every = HALF;
    config.freeze_stats = stats;
    config.freeze_from = HALF;
    config.plan.reest = config.plan.ema = WHEN_NEVER; /* so that the pass still holds the last training batch */
    return config;
}

static bool tensor_moved(const struct trajectory *t, const real *before, const struct net_param *param)
{
    return memcmp(t->weights + param->offset, before + param->offset, param->length * param->channels * sizeof(real)) != 0;
}

/* Freeze one block (or the classifier) at a time: its tensors stand still from freeze_from on, all others move. */
static void frozen_blocks_stand_still(void **state)
{
    (void)state;
    for (size_t frozen = 0; frozen <= 2; frozen++)
        for (int stats = 0; stats < FREEZE_STATS_KIND_COUNT; stats++) {
            struct trajectory_config config = backbone((enum freeze_stats_kind)stats);
            struct small_run_records records = {0};
            config.net.conv_bias = true;
            config.optim.kind = OPTIM_ADAMW;
            config.optim.weight_decay = 0.1;
            config.frozen[frozen] = true;
            struct trajectory *t = small_run_create(&config, &records);
            real *start = arena_array(&t->arena, t->net.size, sizeof(real)),
                 *half = arena_array(&t->arena, t->net.size, sizeof(real));
            memcpy(start, t->weights, t->net.size * sizeof(real));
            small_run_steps(t, HALF);
            memcpy(half, t->weights, t->net.size * sizeof(real));
            small_run_steps(t, 2 * HALF);
            for (int i = 0; i < t->net.param_count; i++) {
                assert_true(tensor_moved(t, start, &t->net.params[i]));
                assert_int_equal(tensor_moved(t, half, &t->net.params[i]), t->net.params[i].block != frozen);
            }
            trajectory_free(t);
            small_run_forget(&records);
        }
}

/* Everything is frozen and the data change. Returns how many of the 8 channels' running means moved. */
static size_t moved(enum freeze_stats_kind stats, bool towards_the_new_data)
{
    struct trajectory_config config = backbone(stats);
    struct small_run_records records = {0};
    real before[8], var[8];
    size_t count = 0;
    config.frozen[0] = config.frozen[1] = config.frozen[2] = true;
    struct trajectory *t = small_run_create(&config, &records);
    small_run_steps(t, HALF);
    struct hash weights = trajectory_weights_hash(t), statistics = trajectory_statistics_hash(t, 0);
    memcpy(before, t->running[0].mean, sizeof before);
    memcpy(var, t->running[0].var, sizeof var);
    small_run_steps(t, 2 * HALF);
    assert_true(hash_equal(weights, trajectory_weights_hash(t)));
    assert_int_equal(hash_equal(statistics, trajectory_statistics_hash(t, 0)), !towards_the_new_data);
    for (size_t c = 0; c < 8; c++) {
        double was = (double)before[c], is = (double)t->running[0].mean[c], batch = t->pass.batch.mean[c],
               sigma = sqrt(t->pass.batch.var[c]);
        count += was != is;
        if (towards_the_new_data)
            assert_true(fabs(is - batch) < 0.2 * fabs(was - batch) + 0.5 * sigma); /* 0.9^20 = 0.12 of the way is left */
        else
            assert_true(t->running[0].var[c] == var[c]);
    }
    const struct small_run_record *unit = small_run_find(&records, 0, GROUP_CHECK, 1);
    for (size_t c = 0; c < 8; c++)
        assert_true(unit->values[variables_offset(VARIABLE_angle, &t->extent) + c] == 0); /* the weights turned not at all */
    trajectory_free(t);
    small_run_forget(&records);
    return count;
}

static void live_statistics_drift_towards_new_data(void **state)
{
    (void)state;
    assert_int_equal(moved(FREEZE_STATS_LIVE, true), 8);
}

static void held_statistics_do_not_change(void **state)
{
    (void)state;
    assert_int_equal(moved(FREEZE_STATS_HELD, false), 0);
}

/* Before freeze_from nothing is different. */
static void the_freeze_waits_for_its_step(void **state)
{
    (void)state;
    struct trajectory_config config = backbone(FREEZE_STATS_HELD);
    struct small_run_records records = {0};
    struct hash weights[2], statistics[2];
    for (int frozen = 0; frozen <= 1; frozen++) {
        config.frozen[0] = config.frozen[1] = frozen;
        struct trajectory *t = small_run_create(&config, &records);
        small_run_steps(t, HALF);
        weights[frozen] = trajectory_weights_hash(t);
        statistics[frozen] = trajectory_statistics_hash(t, 0);
        trajectory_free(t);
    }
    assert_true(hash_equal(weights[0], weights[1]) && hash_equal(statistics[0], statistics[1]));
    small_run_forget(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_blocks_stand_still),
        cmocka_unit_test(live_statistics_drift_towards_new_data),
        cmocka_unit_test(held_statistics_do_not_change),
        cmocka_unit_test(the_freeze_waits_for_its_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

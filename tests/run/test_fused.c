/* Momenta that share a trajectory give, each, the bits they give alone: every record and the final statistics. */
#include "small_run.h"

enum { MOMENTA = 3 };

static const double momenta[MOMENTA] = {0.03, 0.1, 0.3};

static void assert_fusing_changes_nothing(struct trajectory_config config)
{
    struct small_run_records fused = {0};
    config.momenta_count = MOMENTA;
    memcpy(config.momenta, momenta, sizeof momenta);
    struct trajectory *together = small_run_create(&config, &fused);
    small_run_steps(together, config.plan.steps);
    for (size_t unit = 0; unit < MOMENTA; unit++) {
        struct small_run_records own = {0};
        config.momenta_count = 1;
        config.momenta[0] = momenta[unit];
        struct trajectory *alone = small_run_create(&config, &own);
        small_run_steps(alone, config.plan.steps);
        assert_int_equal(own.count * MOMENTA, fused.count);
        for (size_t i = 0; i < own.count; i++)
            assert_true(small_run_same(&own.list[i], small_run_find(&fused, unit, own.list[i].group, own.list[i].index)));
        assert_true(hash_equal(trajectory_weights_hash(alone), trajectory_weights_hash(together)));
        assert_true(hash_equal(trajectory_statistics_hash(alone, 0), trajectory_statistics_hash(together, unit)));
        trajectory_free(alone);
        small_run_forget(&own);
    }
    trajectory_free(together);
    small_run_forget(&fused);
}

static void every_optimizer(void **state)
{
    (void)state;
    for (int kind = 0; kind < OPTIM_KIND_COUNT; kind++) {
        struct trajectory_config config = small_run_config();
        config.optim.kind = (enum optim_kind)kind;
        config.optim.weight_decay = 0.01;
        assert_fusing_changes_nothing(config);
        config.optim.project = true;
        assert_fusing_changes_nothing(config);
    }
}

static void a_careless_probe_and_live_frozen_layers(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    config.plan.probe_writes_stats = true;
    assert_fusing_changes_nothing(config);
    config.frozen[0] = true;
    config.freeze_from = 3;
    config.freeze_stats = FREEZE_STATS_LIVE;
    assert_fusing_changes_nothing(config);
}

/* Measurements that only some momenta are due: `failing` looks at each unit's own accuracy. */
static void measurements_at_failing_checks(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    config.plan.reest = config.plan.swap_layer = config.plan.swap_top = config.plan.ema = WHEN_FAILING;
    config.task.signal = 3; /* easy, so that some checks pass */
    config.plan.steps = config.schedule.steps = 40;
    assert_fusing_changes_nothing(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_optimizer),
        cmocka_unit_test(a_careless_probe_and_live_frozen_layers),
        cmocka_unit_test(measurements_at_failing_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

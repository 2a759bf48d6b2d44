/* Measuring writes nothing; probe_writes_stats = yes is the careless script that does. */
#include "small_run.h"

static struct trajectory *run(bool measured, bool writes, uint64_t until, struct small_run_records *records)
{
    struct trajectory_config config = small_run_config();
    config.momenta_count = 2;
    config.momenta[1] = 0.4;
    config.plan.probe_writes_stats = writes;
    if (!measured) {
        config.plan.first_check = 12;
        config.plan.trace_every = 0;
        config.plan.reest = config.plan.swap_layer = config.plan.swap_top = config.plan.ema = WHEN_NEVER;
    }
    struct trajectory *t = small_run_create(&config, records);
    small_run_steps(t, until);
    return t;
}

/* With every measurement and with none: the same weights and statistics. */
static void measuring_does_not_touch_training(void **state)
{
    (void)state;
    struct small_run_records records = {0};
    for (uint64_t until = 4; until <= 12; until += 4) {
        struct trajectory *measured = run(true, false, until, &records), *plain = run(false, false, until, &records);
        assert_true(hash_equal(trajectory_weights_hash(measured), trajectory_weights_hash(plain)));
        for (size_t unit = 0; unit < 2; unit++)
            assert_true(hash_equal(trajectory_statistics_hash(measured, unit), trajectory_statistics_hash(plain, unit)));
        assert_false(hash_equal(trajectory_statistics_hash(measured, 0), trajectory_statistics_hash(measured, 1)));
        trajectory_free(measured);
        trajectory_free(plain);
    }
    small_run_forget(&records);
}

/* A check with the careless probe is one more update, by the validation set, of every momentum; the weights do not notice. */
static void a_careless_probe_is_one_more_update(void **state)
{
    (void)state;
    struct small_run_records records = {0};
    struct trajectory *careful = run(true, false, 4, &records), *careless = run(true, true, 4, &records);
    assert_true(hash_equal(trajectory_weights_hash(careful), trajectory_weights_hash(careless)));
    for (size_t unit = 0; unit < 2; unit++) {
        assert_false(hash_equal(trajectory_statistics_hash(careful, unit), trajectory_statistics_hash(careless, unit)));
        running_update(&careful->net, careful->held, &careful->fresh, 20, &careful->running[unit]);
        assert_true(hash_equal(trajectory_statistics_hash(careful, unit), trajectory_statistics_hash(careless, unit)));
    }
    small_run_steps(careless, 12);
    struct trajectory *plain = run(false, false, 12, &records);
    assert_true(hash_equal(trajectory_weights_hash(plain), trajectory_weights_hash(careless)));
    trajectory_free(careful);
    trajectory_free(careless);
    trajectory_free(plain);
    small_run_forget(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measuring_does_not_touch_training),
        cmocka_unit_test(a_careless_probe_is_one_more_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

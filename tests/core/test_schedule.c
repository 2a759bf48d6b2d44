/* Learning rates by value. */
#include "numbers.h"

#include "bnsweep/core/schedule.h"

static void assert_rates(const struct schedule_config *config, const double *expected)
{
    for (uint64_t step = 0; step < config->steps; step++)
        assert_near(schedule_rate(config, step), expected[step], 1e-15);
}

static void constant(void **state)
{
    (void)state;
    struct schedule_config config = {.kind = SCHEDULE_CONSTANT, .lr = 0.3, .steps = 4};
    assert_rates(&config, (const double[]){0.3, 0.3, 0.3, 0.3});
}

/* min + (lr - min)/2 (1 + cos(pi t/T)); at t = T/3 the cosine is 1/2. */
static void cosine(void **state)
{
    (void)state;
    struct schedule_config config = {.kind = SCHEDULE_COSINE, .lr = 0.5, .steps = 6, .min = 0.1};
    double root = sqrt(3) / 2;
    assert_rates(&config, (const double[]){0.5, 0.3 + 0.2 * root, 0.4, 0.3, 0.2, 0.3 - 0.2 * root});
    config.min = 0;
    config.steps = 6000;
    assert_near(schedule_rate(&config, 3000), 0.25, 1e-16);
    assert_true(schedule_rate(&config, 5999) > 0 && schedule_rate(&config, 5999) < 1e-7);
    for (uint64_t step = 1; step < 6000; step++)
        assert_true(schedule_rate(&config, step) < schedule_rate(&config, step - 1));
}

static void step(void **state)
{
    (void)state;
    struct schedule_config config = {.kind = SCHEDULE_STEP, .lr = 1, .steps = 8, .interval = 3, .gamma = 0.5};
    assert_rates(&config, (const double[]){1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25});
}

static void exponential(void **state)
{
    (void)state;
    struct schedule_config config = {.kind = SCHEDULE_EXPONENTIAL, .lr = 2, .steps = 5, .gamma = 0.5};
    assert_rates(&config, (const double[]){2, 1, 0.5, 0.25, 0.125});
}

/* torch.optim.lr_scheduler.OneCycleLR(max_lr=1, total_steps=10, pct_start=0.3): div_factor 25, final_div_factor 1e4.
 * Up over steps 0 .. 2 (0.3 * 10 - 1), down over steps 2 .. 9. */
static void one_cycle(void **state)
{
    (void)state;
    struct schedule_config config = {.kind = SCHEDULE_ONECYCLE, .lr = 1, .steps = 10, .peak = 0.3, .div = 25, .final_div = 1e4};
    static const double expected[] = {0.04,       0.52,       1.0,        0.95048463, 0.81174565,
                                      0.61126202, 0.38874198, 0.18825835, 0.04951937, 4e-06};
    for (uint64_t s = 0; s < 10; s++)
        assert_near(schedule_rate(&config, s), expected[s], 5e-9);
    /* in full: floor + (1 - floor)/2 (1 + cos(pi (s - 2)/7)) */
    for (uint64_t s = 2; s < 10; s++)
        assert_near(schedule_rate(&config, s), 4e-6 + (1 - 4e-6) / 2 * (1 + cos(acos(-1) * (double)(s - 2) / 7)), 1e-15);
    config.peak = 0.25; /* the top falls between steps: 1.5 */
    assert_near(schedule_rate(&config, 1), 1 + (0.04 - 1) / 2 * (1 + cos(acos(-1) / 1.5)), 1e-15);
    assert_near(schedule_rate(&config, 2), 4e-6 + (1 - 4e-6) / 2 * (1 + cos(acos(-1) * 0.5 / 7.5)), 1e-15);
    for (int peak = 0; peak <= 10; peak++) { /* whatever the peak: finite, between floor and top */
        config.peak = peak / 10.0;
        for (uint64_t s = 0; s < 10; s++)
            assert_true(schedule_rate(&config, s) >= 4e-6 - 1e-18 && schedule_rate(&config, s) <= 1);
    }
}

/* lr (step + 1)/warmup, then the schedule from its start over what is left. */
static void warm_up(void **state)
{
    (void)state;
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        struct schedule_config config = {.kind = (enum schedule_kind)kind, .lr = 0.8, .steps = 14, .warmup = 4, .min = 0.1,
                                         .interval = 2, .gamma = 0.9, .peak = 0.3, .div = 25, .final_div = 1e4};
        struct schedule_config rest = config;
        rest.warmup = 0;
        rest.steps = 10;
        for (uint64_t s = 0; s < 4; s++)
            assert_near(schedule_rate(&config, s), 0.2 * (double)(s + 1), 1e-16);
        for (uint64_t s = 0; s < 10; s++)
            assert_true(schedule_rate(&config, s + 4) == schedule_rate(&rest, s));
        config.warmup = config.steps;
        assert_near(schedule_rate(&config, 13), 0.8, 1e-16);
        config.steps = 1;
        config.warmup = 0;
        assert_true(isfinite(schedule_rate(&config, 0)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant),    cmocka_unit_test(cosine),    cmocka_unit_test(step),
        cmocka_unit_test(exponential), cmocka_unit_test(one_cycle), cmocka_unit_test(warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* When things are measured, how many channels are swapped, and plans that contradict themselves. */
#include "testing.h"

#include "bnsweep/measure/plan.h"

static struct plan experiment(void)
{
    return (struct plan){.steps = 6000,
                         .first_check = 2000,
                         .check_every = 100,
                         .angle_window = 100,
                         .trace_every = 10,
                         .val_size = 4000,
                         .probe_size = 128,
                         .reest = WHEN_ALWAYS,
                         .swap_layer = WHEN_ALWAYS,
                         .swap_top = WHEN_LAST,
                         .ema = WHEN_ALWAYS,
                         .reest_count = 3,
                         .ema_count = 1,
                         .reest_batches = {10, 100, 300},
                         .ema_decays = {0.999}};
}

static void checks_of_the_experiment(void **state)
{
    (void)state;
    struct plan plan = experiment();
    assert_ok(plan_check(&plan));
    assert_int_equal(plan_check_count(&plan), 41);
    assert_int_equal(plan_check_step(&plan, 0), 2000);
    assert_int_equal(plan_check_step(&plan, 40), 6000);
    assert_int_equal(plan_sample_count(&plan), 600);
    assert_int_equal(plan_sample_step(&plan, 0), 10);
    assert_int_equal(plan_sample_step(&plan, 599), 6000);
}

/* Every step is a check or sample where, and only where, the list of them says so. */
static void steps_and_numbers_agree(void **state)
{
    (void)state;
    for (uint64_t every = 1; every < 8; every++)
        for (uint64_t first = 1; first <= 20; first++) {
            struct plan plan = experiment();
            uint64_t checks = 0, samples = 0, index;
            plan.steps = 20;
            plan.first_check = first;
            plan.check_every = plan.trace_every = every;
            for (uint64_t step = 0; step <= 25; step++) {
                if (plan_is_check(&plan, step, &index)) {
                    assert_int_equal(index, checks++);
                    assert_int_equal(plan_check_step(&plan, index), step);
                    assert_true(plan_is_check(&plan, step, NULL));
                }
                if (plan_is_sample(&plan, step, &index)) {
                    assert_int_equal(index, samples++);
                    assert_int_equal(plan_sample_step(&plan, index), step);
                    assert_true(plan_is_sample(&plan, step, NULL));
                }
            }
            assert_int_equal(checks, plan_check_count(&plan));
            assert_int_equal(samples, plan_sample_count(&plan));
            assert_int_equal(checks, (20 - first) / every + 1);
            assert_int_equal(samples, 20 / every);
        }
}

static void no_trace_has_no_samples(void **state)
{
    (void)state;
    struct plan plan = experiment();
    plan.trace_every = 0;
    assert_ok(plan_check(&plan));
    assert_int_equal(plan_sample_count(&plan), 0);
    assert_false(plan_is_sample(&plan, 10, NULL));
}

static void ks_double_up_to_all(void **state)
{
    (void)state;
    static const size_t of_160[] = {1, 2, 4, 8, 16, 32, 64, 128, 160};
    assert_int_equal(plan_k_count(160), 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(plan_k(160, i), of_160[i]);
    assert_int_equal(plan_k_count(1), 1);
    assert_int_equal(plan_k(1, 0), 1);
    assert_int_equal(plan_k_count(64), 7);
    assert_int_equal(plan_k(64, 6), 64);
    for (size_t channels = 1; channels < 300; channels++)
        for (size_t i = 0; i < plan_k_count(channels); i++)
            assert_true(plan_k(channels, i) <= channels && (!i || plan_k(channels, i) > plan_k(channels, i - 1)));
}

static void switches(void **state)
{
    (void)state;
    assert_false(plan_due(WHEN_NEVER, true, 0));
    assert_true(plan_due(WHEN_LAST, true, 1) && !plan_due(WHEN_LAST, false, 0));
    assert_true(plan_due(WHEN_FAILING, false, 0.89) && !plan_due(WHEN_FAILING, true, 0.9));
    assert_true(plan_due(WHEN_ALWAYS, false, 1));
}

static void axes_without_a_measurement_have_no_length(void **state)
{
    (void)state;
    struct plan plan = experiment();
    struct variables_extent e = plan_extent(&plan, 160, 3);
    assert_true(e.checks == 41 && e.samples == 600 && e.channels == 160 && e.layers == 3);
    assert_true(e.reests == 3 && e.orders == PLAN_ORDER_COUNT && e.ks == 9 && e.emas == 1);
    plan.reest = plan.swap_top = plan.ema = WHEN_NEVER;
    plan.trace_every = 0;
    e = plan_extent(&plan, 160, 3);
    assert_true(e.reests == 0 && e.orders == 0 && e.ks == 0 && e.emas == 0 && e.samples == 0 && e.checks == 41 && e.steps == 0);
    plan.keep_batch_stats = true;
    assert_int_equal(plan_extent(&plan, 160, 3).steps, plan.steps);
}

#define REFUSE(text, change)                               \
    do {                                                   \
        struct plan plan = experiment();                   \
        change;                                            \
        assert_fails(STATUS_INPUT, text, plan_check(&plan)); \
    } while (0)

static void plans_that_contradict_themselves(void **state)
{
    (void)state;
    REFUSE("must be at least 1", plan.steps = 0);
    REFUSE("must be at least 1", plan.check_every = 0);
    REFUSE("must be at least 1", plan.angle_window = 0);
    REFUSE("val_size at least 2", plan.val_size = 0);
    REFUSE("val_size at least 2", plan.val_size = 1);
    REFUSE("first_check = 6001 must lie between angle_window = 100 and steps = 6000", plan.first_check = 6001);
    REFUSE("first_check = 99 must lie between angle_window = 100", plan.first_check = 99);
    REFUSE("probe_size = 0 must lie between 1 and val_size = 4000", plan.probe_size = 0);
    REFUSE("probe_size = 4001", plan.probe_size = 4001);
    REFUSE("at most 8 values", plan.reest_count = 9);
    REFUSE("at most 8 values", plan.ema_count = 9);
    REFUSE("reest_batches must rise, from at least 1", plan.reest_batches[0] = 0);
    REFUSE("reest_batches must rise", plan.reest_batches[2] = 100);
    REFUSE("reest_batches must rise", plan.reest_batches[2] = 99);
    REFUSE("ema_decays must lie between 0 and 1", plan.ema_decays[0] = 0);
    REFUSE("ema_decays must lie between 0 and 1", plan.ema_decays[0] = 1);
    REFUSE("ema_decays must lie between 0 and 1", plan.ema_decays[0] = 0.0 / 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_of_the_experiment),
        cmocka_unit_test(steps_and_numbers_agree),
        cmocka_unit_test(no_trace_has_no_samples),
        cmocka_unit_test(ks_double_up_to_all),
        cmocka_unit_test(switches),
        cmocka_unit_test(axes_without_a_measurement_have_no_length),
        cmocka_unit_test(plans_that_contradict_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Weight averages: the formula, from the initial state on, for weights and for each momentum's running statistics. */
#include "small_net.h"

#include "bnsweep/measure/average.h"

static void the_formula(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    struct running sets[2];
    struct average average;
    const double decay = 0.9;
    small_net_create(&small, &config, 2);
    assert_ok(running_create(&sets[0], &small.net, 0.1, &small.arena));
    assert_ok(running_create(&sets[1], &small.net, 0.3, &small.arena));
    sets[1].mean[4] = 2;
    assert_ok(average_create(&average, &small.net, decay, small.weights, 2, sets, &small.arena));
    assert_memory_equal(average.weights, small.weights, small.net.size * sizeof(real));
    assert_true(average.running[1].momentum == 0.3 && average.running[1].mean[4] == 2 && average.running[0].var[0] == 1);
    double weight = (double)small.weights[7], mean[2] = {0, 2}, var = 1;
    for (int step = 1; step <= 30; step++) {
        small.weights[7] = (real)sin(step);
        for (int m = 0; m < 2; m++)
            sets[m].mean[4] = (real)(cos(step) * (m + 1));
        sets[0].var[10] = (real)(1 + step);
        average_update(&average, &small.net, small.weights, 2, sets);
        weight = decay * weight + (1 - decay) * sin(step);
        var = decay * var + (1 - decay) * (1 + step);
        assert_near(average.weights[7], weight, 32 * NUMBERS_ROUNDING);
        assert_near(average.running[0].var[10], var, 32 * 16 * NUMBERS_ROUNDING);
        for (int m = 0; m < 2; m++) {
            mean[m] = decay * mean[m] + (1 - decay) * cos(step) * (m + 1);
            assert_near(average.running[m].mean[4], mean[m], 32 * NUMBERS_ROUNDING);
        }
    }
    assert_near(average.weights[8], small.weights[8], 32 * NUMBERS_ROUNDING); /* what stands still stays */
    small_net_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_formula)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How far running statistics trail: the quotients by hand, and the law lag = r (1 - m)/m for a mean that drifts steadily. */
#include "small_net.h"

#include "bnsweep/measure/lag.h"

enum { C = 3 };

static void quotients_by_hand(void **state)
{
    (void)state;
    real mean[C] = {1, -2, 5}, var[C] = {4, 1, 3};
    double fresh_mean[C] = {2, -2, 1}, fresh_var[C] = {16, 0.25, 0}, lag[C], ratio[C], out[C];
    double after_mean[C] = {0, 1, 1}, after_var[C] = {4, 9, 0};
    struct running running = {0.1, mean, var};
    struct running_batch fresh = {fresh_mean, fresh_var}, after = {after_mean, after_var};
    lag_of_running(C, &running, &fresh, lag, ratio);
    assert_near(lag[0], -0.25, 0);
    assert_near(lag[1], 0, 0);
    assert_near(ratio[0], 0.25, 0);
    assert_near(ratio[1], 4, 0);
    assert_true(isnan(lag[2]) && isnan(ratio[2])); /* a dead channel */
    lag_mu_over_sigma(C, &fresh, out);
    assert_true(out[0] == 0.5 && out[1] == -4 && isnan(out[2]));
    lag_drift(C, &fresh, &after, out);
    assert_true(out[0] == 1 && out[1] == 1 && isnan(out[2]));
}

static void traces_leave_held_layers_out(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    double out[11];
    small_net_create(&small, &config, 4);
    small_net_loss(&small);
    small.held[1] = true;
    lag_trace(&small.net, small.held, &small.running, &small.pass.batch, out);
    for (size_t c = 0; c < 11; c++) {
        double expected = ((double)small.running.mean[c] - small.pass.batch.mean[c]) / sqrt(small.pass.batch.var[c]);
        if (c < 5)
            assert_near(out[c], expected, 1e-14 * fabs(expected));
        else
            assert_true(isnan(out[c]));
    }
    small_net_free(&small);
}

/* The batch mean of channel c drifts r sigma a step; after the update with momentum m the running mean trails the newest batch by
 * r (1 - m)/m sigma, and before it, as the trace takes it, by r more: r/m. */
static void a_steady_drift_lags_by_its_age(void **state)
{
    (void)state;
    static const double momenta[] = {0.03, 0.1, 0.3}, drift = 0.0074, sigma = 2;
    struct net_config config = small_net_config();
    for (size_t i = 0; i < sizeof momenta / sizeof *momenta; i++) {
        struct small_net small;
        double m = momenta[i], lag[11], ratio[11], trace[11];
        small_net_create(&small, &config, 4);
        small.running.momentum = m;
        for (int step = 1; step <= 2000; step++) {
            for (size_t c = 0; c < 11; c++) {
                double direction = c % 2 ? -1 : 1;
                small.pass.batch.mean[c] = direction * drift * sigma * step;
                small.pass.batch.var[c] = sigma * sigma;
            }
            lag_trace(&small.net, small.held, &small.running, &small.pass.batch, trace);
            running_update(&small.net, small.held, &small.pass.batch, 4, &small.running);
        }
        lag_of_running(11, &small.running, &small.pass.batch, lag, ratio);
        double rounding = 30 * NUMBERS_ROUNDING * drift * 2000 / m; /* of a float that has come this far */
        for (size_t c = 0; c < 11; c++) {
            double direction = c % 2 ? 1 : -1, count = 4 * (double)(c < 5 ? 42 : 9);
            assert_near(lag[c], direction * drift * (1 - m) / m, rounding);
            assert_near(trace[c], direction * drift / m, rounding);
            assert_near(ratio[c], count / (count - 1), 1e-5); /* running is unbiased, fresh is biased */
        }
        print_message("m = %g: lag %.5f sigma, expected %.5f\n", m, fabs(lag[0]), drift * (1 - m) / m);
        small_net_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_by_hand),
        cmocka_unit_test(traces_leave_held_layers_out),
        cmocka_unit_test(a_steady_drift_lags_by_its_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

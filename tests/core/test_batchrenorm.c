/* Batch renormalisation: r and d, the schedule of their limits, its warm-up, and the running update over sigma. */
#include "norm_fixture.h"

enum { ROWS = 50, CHANNELS = 4 };

static const struct batchnorm_renorm schedule = {.rmax = 3, .dmax = 5, .warmup = 100, .rmax_step = 300, .dmax_step = 500};
static const double eps = 1e-3;
static real x[ROWS * CHANNELS];

static void create(struct norm *norm)
{
    norm_create(norm, CHANNELS);
    numbers_fill(20, ROWS * CHANNELS, x);
    for (size_t i = 0; i < ROWS * CHANNELS; i++)
        x[i] = (real)(2 + 3 * (double)x[i]);
    assert_ok(norm_statistics(norm, ROWS, 1, eps, x));
}

static void renorm_at(struct norm *norm, double step)
{
    batchnorm_transform_renorm(CHANNELS, &schedule, eps, step, norm->running_mean, norm->running_var, &norm->transform);
}

/* Before the limits open, r = 1 and d = 0 whatever the running statistics are: batch normalisation. */
static void the_warm_up_is_batch_norm(void **state)
{
    (void)state;
    struct norm norm;
    real y[ROWS * CHANNELS], plain[ROWS * CHANNELS];
    create(&norm);
    batchnorm_forward(ROWS, CHANNELS, &norm.transform, norm.gamma, norm.beta, x, plain);
    for (double step = 0; step <= 100; step += 50) {
        norm.running_mean[0] = (real)step;
        renorm_at(&norm, step);
        for (int c = 0; c < CHANNELS; c++)
            assert_true(norm.r[c] == 1 && norm.d[c] == 0);
        batchnorm_forward(ROWS, CHANNELS, &norm.transform, norm.gamma, norm.beta, x, y);
        assert_memory_equal(y, plain, sizeof y);
    }
    norm_free(&norm);
}

/* Channel 0's r and d are cut above, channel 1's below, channel 2's inside the limits. */
static void limits_open_linearly(void **state)
{
    (void)state;
    struct norm norm;
    static const double steps[] = {101, 150, 200, 300, 400, 500, 1e6};
    create(&norm);
    double sigma_batch = 1 / norm.invstd[2];
    norm.running_var[0] = (real)1e-6;
    norm.running_mean[0] = -100;
    norm.running_var[1] = (real)1e6;
    norm.running_mean[1] = 100000;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double rmax = fmin(3, 1 + 2 * (steps[i] - 100) / 200), dmax = fmin(5, 5 * (steps[i] - 100) / 400);
        renorm_at(&norm, steps[i]);
        assert_near(norm.r[0], rmax, 1e-12);
        assert_near(norm.d[0], dmax, 1e-12);
        assert_near(norm.r[1], 1 / rmax, 1e-12);
        assert_near(norm.d[1], -dmax, 1e-12);
        assert_near(norm.r[2], fmin(sigma_batch / sqrt(1 + eps), rmax), 1e-12);
        assert_near(norm.d[2], fmin(norm.mean[2] / sqrt(1 + eps), dmax), 1e-12);
    }
    norm_free(&norm);
}

/* Where a limit is reached at the very end of the warm-up, the warm-up's steps are plain and the next one has the whole limit. */
static void a_limit_may_open_at_once(void **state)
{
    (void)state;
    struct norm norm;
    static const struct batchnorm_renorm at_once = {.rmax = 3, .dmax = 5, .warmup = 2, .rmax_step = 2, .dmax_step = 2};
    create(&norm);
    norm.running_var[0] = (real)1e-6;
    norm.running_mean[0] = -100;
    for (double step = 0; step < 4; step++) {
        batchnorm_transform_renorm(CHANNELS, &at_once, eps, step, norm.running_mean, norm.running_var, &norm.transform);
        assert_near(norm.r[0], step < 2 ? 1 : 3, 0);
        assert_near(norm.d[0], step < 2 ? 0 : 5, 0);
    }
    norm_free(&norm);
}

/* Inside the limits the corrections undo the batch's statistics: training mode gives what evaluation mode gives. */
static void without_clipping_training_equals_evaluation(void **state)
{
    (void)state;
    struct norm norm;
    real training[ROWS * CHANNELS], evaluation[ROWS * CHANNELS];
    create(&norm);
    numbers_fill(21, CHANNELS, norm.gamma);
    numbers_fill(22, CHANNELS, norm.beta);
    for (int c = 0; c < CHANNELS; c++) {
        norm.running_mean[c] = (real)(1.5 + 0.1 * c);
        norm.running_var[c] = (real)(2 + 0.3 * c);
    }
    renorm_at(&norm, 1e6);
    assert_true(norm.r[0] != 1 && norm.d[0] != 0);
    batchnorm_forward(ROWS, CHANNELS, &norm.transform, norm.gamma, norm.beta, x, training);
    batchnorm_transform_running(CHANNELS, norm.running_mean, norm.running_var, eps, &norm.transform);
    batchnorm_forward(ROWS, CHANNELS, &norm.transform, norm.gamma, norm.beta, x, evaluation);
    assert_true(numbers_error(ROWS * CHANNELS, training, evaluation) < 16 * NUMBERS_ROUNDING);
    norm_free(&norm);
}

/* The paper averages sigma_B = sqrt(var + eps), biased; the layer stores sigma^2 - eps. */
static void the_running_update_averages_sigma(void **state)
{
    (void)state;
    struct norm norm;
    create(&norm);
    double mean = 0, sigma = sqrt(1 + eps);
    for (int step = 0; step < 50; step++) {
        mean = 0.9 * mean + 0.1 * norm.moments.mean[0];
        sigma = 0.9 * sigma + 0.1 * sqrt(norm.variance[0] + eps);
        batchnorm_update_renorm(CHANNELS, norm.moments.mean, norm.variance, eps, 0.1, norm.running_mean, norm.running_var);
        assert_near(norm.running_mean[0], mean, 32 * NUMBERS_ROUNDING * fabs(mean));
        assert_near(norm.running_var[0], sigma * sigma - eps, 32 * NUMBERS_ROUNDING * sigma * sigma);
    }
    norm_free(&norm);
}

/* A channel that is constant for ever: its variance falls to 0 and its deviation stays that of eps. */
static void a_dead_channel_stays_finite(void **state)
{
    (void)state;
    double mean[1] = {0}, variance[1] = {0};
    real running_mean[1] = {0}, running_var[1] = {1};
    for (int step = 0; step < 1000; step++)
        batchnorm_update_renorm(1, mean, variance, eps, 0.1, running_mean, running_var);
    assert_true((double)running_var[0] + eps > 0);
    assert_near(running_var[0], 0, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warm_up_is_batch_norm),
        cmocka_unit_test(limits_open_linearly),
        cmocka_unit_test(a_limit_may_open_at_once),
        cmocka_unit_test(without_clipping_training_equals_evaluation),
        cmocka_unit_test(the_running_update_averages_sigma),
        cmocka_unit_test(a_dead_channel_stays_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

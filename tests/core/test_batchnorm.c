/* Batch normalisation to the digit: what one layer does to three columns, and who writes its running statistics. */
#include "norm_fixture.h"

static const real batch[9] = {10, 200, 3, 14, 260, 5, 12, 230, 4};

static void running_means_creep_ten_percent_a_step(void **state)
{
    (void)state;
    static const double expected[3][3] = {{1.2, 23, 0.4}, {2.28, 43.7, 0.76}, {3.252, 62.33, 1.084}};
    struct norm norm;
    norm_create(&norm, 3);
    for (int step = 0; step < 3; step++) {
        assert_ok(norm_statistics(&norm, 3, 1, 1e-5, batch));
        norm_update(&norm, 3, 0.1);
        for (int c = 0; c < 3; c++)
            assert_near(norm.running_mean[c], expected[step][c], 4 * NUMBERS_ROUNDING * expected[step][c]);
    }
    norm_free(&norm);
}

static void an_evaluation_pass_changes_nothing(void **state)
{
    (void)state;
    struct norm norm, before;
    real y[9];
    norm_create(&norm, 3);
    for (int step = 0; step < 3; step++) {
        assert_ok(norm_statistics(&norm, 3, 1, 1e-5, batch));
        norm_update(&norm, 3, 0.1);
    }
    before = norm;
    batchnorm_transform_running(3, norm.running_mean, norm.running_var, 1e-5, &norm.transform);
    batchnorm_forward(3, 3, &norm.transform, norm.gamma, norm.beta, batch, y);
    assert_memory_equal(norm.running_mean, before.running_mean, sizeof before.running_mean);
    assert_memory_equal(norm.running_var, before.running_var, sizeof before.running_var);
    for (int i = 0; i < 9; i++) {
        double expected = ((double)batch[i] - (double)norm.running_mean[i % 3]) / sqrt((double)norm.running_var[i % 3] + 1e-5);
        assert_near(y[i], expected, 4 * NUMBERS_ROUNDING * fabs(expected));
    }
    norm_free(&norm);
}

/* The batch's unbiased variances are 4, 900 and 1; twenty steps leave 0.9^20 of the way from 1. */
static void running_variance_takes_the_unbiased_estimate(void **state)
{
    (void)state;
    static const double unbiased[] = {4, 900, 1};
    struct norm norm;
    norm_create(&norm, 3);
    for (int step = 1; step <= 400; step++) {
        assert_ok(norm_statistics(&norm, 3, 1, 1e-5, batch));
        norm_update(&norm, 3, 0.1);
        if (step != 1 && step != 20 && step != 400)
            continue;
        for (int c = 0; c < 3; c++)
            assert_near(norm.running_var[c], unbiased[c] + pow(0.9, step) * (1 - unbiased[c]), 32 * NUMBERS_ROUNDING * unbiased[c]);
    }
    norm_free(&norm);
}

/* The batch itself is normalised by the biased variance: 2/3 of the unbiased. */
static void the_batch_is_normalised_by_the_biased_variance(void **state)
{
    (void)state;
    static const double biased[] = {8.0 / 3, 600, 2.0 / 3}, mean[] = {12, 230, 4};
    struct norm norm;
    real y[9];
    norm_create(&norm, 3);
    norm.gamma[1] = 2;
    norm.beta[2] = -3;
    assert_ok(norm_statistics(&norm, 3, 1, 1e-5, batch));
    batchnorm_forward(3, 3, &norm.transform, norm.gamma, norm.beta, batch, y);
    for (int i = 0; i < 9; i++) {
        int c = i % 3;
        double xhat = ((double)batch[i] - mean[c]) / sqrt(biased[c] + 1e-5);
        assert_near(norm.variance[c], biased[c], 4 * NUMBERS_ROUNDING * biased[c]);
        assert_near(y[i], (double)norm.gamma[c] * xhat + (double)norm.beta[c], 16 * NUMBERS_ROUNDING);
    }
    norm_free(&norm);
}

static void momentum_is_the_weight_of_the_new_batch(void **state)
{
    (void)state;
    struct norm norm;
    norm_create(&norm, 3);
    assert_ok(norm_statistics(&norm, 3, 1, 1e-5, batch));
    norm_update(&norm, 3, 0);
    assert_true(norm.running_mean[1] == 0 && norm.running_var[1] == 1);
    norm_update(&norm, 3, 1);
    assert_near(norm.running_mean[1], 230, 230 * 2 * NUMBERS_ROUNDING);
    assert_near(norm.running_var[1], 900, 900 * 4 * NUMBERS_ROUNDING);
    norm_free(&norm);
}

static void a_batch_of_one_is_refused_in_training_mode_only(void **state)
{
    (void)state;
    struct norm norm;
    real y[3];
    norm_create(&norm, 3);
    assert_fails(STATUS_SHAPE, "more than 1 value per channel", norm_statistics(&norm, 1, 1, 1e-5, batch));
    assert_non_null(strstr(status_message(), "[1, 3, 1]"));
    assert_fails(STATUS_SHAPE, "more than 1 value per channel", norm_statistics(&norm, 0, 4, 1e-5, batch));
    assert_ok(norm_statistics(&norm, 1, 2, 1e-5, batch));
    assert_ok(norm_statistics(&norm, 2, 1, 1e-5, batch));
    batchnorm_transform_running(3, norm.running_mean, norm.running_var, 1e-5, &norm.transform);
    batchnorm_forward(1, 3, &norm.transform, norm.gamma, norm.beta, batch, y);
    assert_near(y[1], 200 / sqrt(1 + 1e-5), 200 * 4 * NUMBERS_ROUNDING);
    norm_free(&norm);
}

/* (N, C), (N, C, L), (N, C, H, W) and (N, C, D, H, W) of the same values per channel give the same numbers. */
static void only_the_channel_matters_not_the_layout(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{24, 1}, {12, 2}, {4, 6}, {2, 12}, {1, 24}}; /* n, spatial */
    enum { C = 70 };
    static real x[24 * C], y[24 * C], first[24 * C];
    struct norm norm;
    norm_create(&norm, C);
    numbers_fill(5, 24 * C, x);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_ok(norm_statistics(&norm, shapes[i][0], shapes[i][1], 1e-5, x));
        batchnorm_forward(24, C, &norm.transform, norm.gamma, norm.beta, x, i ? y : first);
        if (i)
            assert_memory_equal(y, first, sizeof y);
    }
    norm_free(&norm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_means_creep_ten_percent_a_step),
        cmocka_unit_test(an_evaluation_pass_changes_nothing),
        cmocka_unit_test(running_variance_takes_the_unbiased_estimate),
        cmocka_unit_test(the_batch_is_normalised_by_the_biased_variance),
        cmocka_unit_test(momentum_is_the_weight_of_the_new_batch),
        cmocka_unit_test(a_batch_of_one_is_refused_in_training_mode_only),
        cmocka_unit_test(only_the_channel_matters_not_the_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

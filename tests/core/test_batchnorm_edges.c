/* Batch normalisation where it could lose its digits: large means, constant channels, gamma = 0, many channels. */
#include "norm_fixture.h"

enum { ROWS = 200 };

/* y and the gradient of x in double, from x as it is. */
static void exact(const struct norm *norm, double eps, const real *x, const real *dy, real *y, real *dx)
{
    size_t channels = norm->channels;
    for (size_t c = 0; c < channels; c++) {
        long double total = 0;
        double variance = 0, sum = 0, sum_xhat = 0;
        for (size_t r = 0; r < ROWS; r++)
            total += (long double)x[r * channels + c];
        double mean = (double)(total / ROWS);
        for (size_t r = 0; r < ROWS; r++)
            variance += pow((double)x[r * channels + c] - mean, 2) / ROWS;
        double invstd = 1 / sqrt(variance + eps), gamma = (double)norm->gamma[c];
        for (size_t r = 0; r < ROWS; r++) {
            double xhat = ((double)x[r * channels + c] - mean) * invstd;
            y[r * channels + c] = (real)(gamma * xhat + (double)norm->beta[c]);
            sum += (double)dy[r * channels + c] / ROWS;
            sum_xhat += (double)dy[r * channels + c] * xhat / ROWS;
        }
        for (size_t r = 0; r < ROWS; r++) {
            double xhat = ((double)x[r * channels + c] - mean) * invstd;
            dx[r * channels + c] = (real)(gamma * invstd * ((double)dy[r * channels + c] - sum - xhat * sum_xhat));
        }
    }
}

static void run(struct norm *norm, const real *x, const real *dy, real *y, real *dgamma, real *dbeta, real *dx)
{
    assert_ok(norm_statistics(norm, ROWS, 1, 1e-5, x));
    batchnorm_forward(ROWS, norm->channels, &norm->transform, norm->gamma, norm->beta, x, y);
    batchnorm_backward(ROWS, norm->channels, &norm->transform, norm->gamma, x, dy, dgamma, dbeta, dx);
}

static void any_number_of_channels(void **state)
{
    (void)state;
    const size_t channels[] = {1, 2, 63, 64, 65, 80};
    static real x[ROWS * 80], dy[ROWS * 80], y[ROWS * 80], dx[ROWS * 80], expected_y[ROWS * 80], expected_dx[ROWS * 80];
    double worst = 0;
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        struct norm norm;
        real dgamma[80] = {0}, dbeta[80] = {0};
        norm_create(&norm, channels[i]);
        numbers_fill(6, ROWS * channels[i], x);
        numbers_fill(7, ROWS * channels[i], dy);
        numbers_fill(8, channels[i], norm.gamma);
        numbers_fill(9, channels[i], norm.beta);
        run(&norm, x, dy, y, dgamma, dbeta, dx);
        exact(&norm, 1e-5, x, dy, expected_y, expected_dx);
        worst = numbers_larger(worst, numbers_error(ROWS * channels[i], y, expected_y));
        worst = numbers_larger(worst, numbers_error(ROWS * channels[i], dx, expected_dx));
        norm_free(&norm);
    }
    print_message("largest relative error: %.2g\n", worst);
    assert_true(worst < 32 * NUMBERS_ROUNDING);
}

/* A mean of 1e4 and a spread of 1: y is rounded once; the gradient takes x from a rounded mean, off by at most 5e-4 in float. */
static void a_large_mean_with_a_small_spread(void **state)
{
    (void)state;
    static real x[ROWS * 3], dy[ROWS * 3], y[ROWS * 3], dx[ROWS * 3], expected_y[ROWS * 3], expected_dx[ROWS * 3];
    struct norm norm;
    real dgamma[3] = {0}, dbeta[3] = {0};
    norm_create(&norm, 3);
    numbers_fill(10, ROWS * 3, x);
    numbers_fill(11, ROWS * 3, dy);
    for (size_t i = 0; i < ROWS * 3; i++)
        x[i] += (real)1e4;
    run(&norm, x, dy, y, dgamma, dbeta, dx);
    exact(&norm, 1e-5, x, dy, expected_y, expected_dx);
    double allowed = 2e4 * NUMBERS_ROUNDING;
    print_message("error of y %.2g, of dx %.2g\n", numbers_error(ROWS * 3, y, expected_y),
                  numbers_error(ROWS * 3, dx, expected_dx));
    assert_true(numbers_error(ROWS * 3, y, expected_y) < 16 * NUMBERS_ROUNDING);
    assert_true(numbers_error(ROWS * 3, dx, expected_dx) < allowed);
    norm_free(&norm);
}

static void a_constant_channel_gives_beta(void **state)
{
    (void)state;
    static real x[ROWS * 2], dy[ROWS * 2], y[ROWS * 2], dx[ROWS * 2];
    struct norm norm;
    real dgamma[2] = {0}, dbeta[2] = {0};
    norm_create(&norm, 2);
    norm.beta[0] = (real)0.75;
    numbers_fill(12, ROWS * 2, dy);
    for (size_t r = 0; r < ROWS; r++)
        x[2 * r] = (real)123.456;
    run(&norm, x, dy, y, dgamma, dbeta, dx);
    assert_true(norm.variance[0] == 0);
    for (size_t r = 0; r < ROWS; r++) {
        assert_true(y[2 * r] == (real)0.75 && y[2 * r + 1] == 0);
        assert_true(isfinite(dx[2 * r]) && isfinite(dx[2 * r + 1]));
    }
    assert_true(dgamma[0] == 0 && dgamma[1] == 0 && dbeta[0] != 0);
    norm_free(&norm);
}

/* gamma = 0 hides x from y, but gamma's own gradient is still there. */
static void gamma_of_zero(void **state)
{
    (void)state;
    static real x[ROWS], dy[ROWS], y[ROWS], dx[ROWS];
    struct norm norm;
    real dgamma = 0, dbeta = 0, with_one = 0, ignored = 0;
    norm_create(&norm, 1);
    numbers_fill(13, ROWS, x);
    numbers_fill(14, ROWS, dy);
    run(&norm, x, dy, y, &with_one, &ignored, dx);
    norm.gamma[0] = 0;
    norm.beta[0] = 2;
    run(&norm, x, dy, y, &dgamma, &dbeta, dx);
    for (size_t r = 0; r < ROWS; r++)
        assert_true(y[r] == 2 && dx[r] == 0);
    assert_true(dgamma == with_one && dgamma != 0);
    norm_free(&norm);
}

static void gradients_are_added_and_dx_may_be_dy(void **state)
{
    (void)state;
    static real x[ROWS], dy[ROWS], y[ROWS], dx[ROWS];
    struct norm norm;
    real dgamma = 0, dbeta = 0, more_gamma = 5, more_beta = -5;
    norm_create(&norm, 1);
    numbers_fill(15, ROWS, x);
    numbers_fill(16, ROWS, dy);
    run(&norm, x, dy, y, &dgamma, &dbeta, dx);
    batchnorm_backward(ROWS, 1, &norm.transform, norm.gamma, x, dy, &more_gamma, &more_beta, dy);
    assert_memory_equal(dy, dx, sizeof dx);
    assert_near(more_gamma, 5 + dgamma, 16 * NUMBERS_ROUNDING);
    assert_near(more_beta, dbeta - 5, 16 * NUMBERS_ROUNDING);
    batchnorm_forward(ROWS, 1, &norm.transform, norm.gamma, norm.beta, x, x); /* y may be x */
    assert_memory_equal(x, y, sizeof y);
    norm_free(&norm);
}

/* A bias in front is subtracted away again: y does not see it, and its gradient, the sum of dx, is rounding. */
static void a_bias_in_front_has_no_gradient(void **state)
{
    (void)state;
    static real x[ROWS * 4], dy[ROWS * 4], y[ROWS * 4], shifted_y[ROWS * 4], dx[ROWS * 4];
    struct norm norm;
    real dgamma[4] = {0}, dbeta[4] = {0};
    norm_create(&norm, 4);
    numbers_fill(17, ROWS * 4, x);
    numbers_fill(18, ROWS * 4, dy);
    run(&norm, x, dy, y, dgamma, dbeta, dx);
    for (size_t c = 0; c < 4; c++) {
        double sum = 0, size = 0;
        for (size_t r = 0; r < ROWS; r++) {
            sum += (double)dx[r * 4 + c];
            size += fabs((double)dx[r * 4 + c]);
        }
        assert_near(sum, 0, 4 * NUMBERS_ROUNDING * size);
    }
    for (size_t i = 0; i < ROWS * 4; i++)
        x[i] += (real)0.5;
    run(&norm, x, dy, shifted_y, dgamma, dbeta, dx);
    assert_true(numbers_error(ROWS * 4, shifted_y, y) < 16 * NUMBERS_ROUNDING);
    norm_free(&norm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_channels),
        cmocka_unit_test(a_large_mean_with_a_small_spread),
        cmocka_unit_test(a_constant_channel_gives_beta),
        cmocka_unit_test(gamma_of_zero),
        cmocka_unit_test(gradients_are_added_and_dx_may_be_dy),
        cmocka_unit_test(a_bias_in_front_has_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

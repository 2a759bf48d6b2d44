/* Means and variances per channel: against two passes in long double, over any chunks, without cancellation. */
#include "numbers.h"

#include "bnsweep/core/moments.h"

enum { CHANNELS = 5 };

static void exact(size_t rows, const real *x, size_t c, double *mean, double *variance)
{
    long double sum = 0, square = 0, average;
    for (size_t r = 0; r < rows; r++)
        sum += (long double)x[r * CHANNELS + c];
    average = sum / (long double)rows;
    for (size_t r = 0; r < rows; r++)
        square += ((long double)x[r * CHANNELS + c] - average) * ((long double)x[r * CHANNELS + c] - average);
    *mean = (double)average;
    *variance = (double)(square / (long double)rows);
}

static void assert_moments(const struct moments *moments, size_t rows, const real *x)
{
    double variance[CHANNELS];
    moments_variance(moments, variance);
    assert_true(moments->count == (double)rows);
    for (size_t c = 0; c < CHANNELS; c++) {
        double mean, expected;
        exact(rows, x, c, &mean, &expected);
        assert_near(moments->mean[c], mean, 8 * NUMBERS_ROUNDING * sqrt(expected) + 1e-14 * fabs(mean));
        assert_near(variance[c], expected, 64 * NUMBERS_ROUNDING * expected + 4e-16 * fabs(mean) * sqrt(expected));
    }
}

static void any_number_of_rows_in_any_chunks(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    static real x[ROWS * CHANNELS];
    struct arena arena = {0};
    struct moments moments;
    numbers_fill(1, ROWS * CHANNELS, x);
    assert_ok(moments_create(&moments, CHANNELS, &arena));
    const size_t rows[] = {1, 2, 31, 32, 33, 1023, 1024, 1025, 2048, ROWS}, chunks[] = {1, 7, 1024, 1500, ROWS};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof chunks / sizeof *chunks; j++) {
            moments_reset(&moments);
            for (size_t at = 0; at < rows[i]; at += chunks[j])
                moments_add(&moments, rows[i] - at < chunks[j] ? rows[i] - at : chunks[j], x + at * CHANNELS);
            assert_moments(&moments, rows[i], x);
        }
    arena_free(&arena);
}

/* Mean 1e4 with a spread of 1, of 0.01, and none: the variance keeps its digits; a constant channel has exactly none. */
static void a_large_mean_loses_nothing(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    static real x[ROWS * CHANNELS];
    struct arena arena = {0};
    struct moments moments;
    double variance[CHANNELS];
    numbers_fill(2, ROWS * CHANNELS, x);
    for (size_t r = 0; r < ROWS; r++) {
        x[r * CHANNELS] += (real)1e4;
        x[r * CHANNELS + 1] = (real)(1e4 + 0.01 * (double)x[r * CHANNELS + 1]);
        x[r * CHANNELS + 2] = (real)12345.678;
        x[r * CHANNELS + 3] = 0;
    }
    assert_ok(moments_create(&moments, CHANNELS, &arena));
    moments_add(&moments, ROWS, x);
    assert_moments(&moments, ROWS, x);
    moments_variance(&moments, variance);
    assert_true(variance[2] == 0 && moments.mean[2] == (double)(real)12345.678);
    assert_true(variance[3] == 0 && moments.mean[3] == 0);
    arena_free(&arena);
}

static void a_reset_forgets(void **state)
{
    (void)state;
    real x[10 * CHANNELS];
    double first[CHANNELS], again[CHANNELS];
    struct arena arena = {0};
    struct moments moments;
    numbers_fill(3, 10 * CHANNELS, x);
    assert_ok(moments_create(&moments, CHANNELS, &arena));
    moments_add(&moments, 10, x);
    moments_variance(&moments, first);
    moments_reset(&moments);
    assert_true(moments.count == 0);
    moments_add(&moments, 10, x);
    moments_variance(&moments, again);
    assert_memory_equal(first, again, sizeof first);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_rows_in_any_chunks),
        cmocka_unit_test(a_large_mean_loses_nothing),
        cmocka_unit_test(a_reset_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

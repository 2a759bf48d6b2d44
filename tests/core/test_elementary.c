/* The elementary functions against the C library, in units of 1e-16, and at their edges. */
#include "numbers.h"

#include "bnsweep/core/elementary.h"

enum { COUNT = 300000 };

static double relative(double value, double expected)
{
    return fabs(value - expected) / fabs(expected);
}

static void exp_is_close(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = numbers_next(&seed) * (i % 2 ? 708 : 2);
        worst = numbers_larger(worst, relative(elementary_exp(x), exp(x)));
    }
    print_message("exp: largest relative error %.2g\n", worst);
    assert_true(worst < 4e-16);
}

static void exp_at_its_edges(void **state)
{
    (void)state;
    assert_true(elementary_exp(0) == 1);
    assert_true(elementary_exp(-0.0) == 1);
    assert_true(elementary_exp(INFINITY) == INFINITY);
    assert_true(elementary_exp(-INFINITY) == 0);
    assert_true(isnan(elementary_exp(NAN)));
    assert_true(elementary_exp(709.1) == INFINITY);
    assert_true(elementary_exp(-708.1) == 0);
    assert_true(relative(elementary_exp(709), exp(709)) < 4e-16);
    assert_true(relative(elementary_exp(-708), exp(-708)) < 4e-16);
    assert_true(elementary_exp(1e-300) == 1);
    for (double x = -708; x < 709; x += 0.37)
        assert_true(elementary_exp(x) < elementary_exp(x + 0.001));
}

static void log_is_close(void **state)
{
    (void)state;
    uint64_t seed = 2;
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = i % 2 ? exp(numbers_next(&seed) * 700) : 1 + numbers_next(&seed) * (i % 4 ? 0.9 : 1e-3);
        worst = numbers_larger(worst, relative(elementary_log(x), log(x)));
    }
    print_message("log: largest relative error %.2g\n", worst);
    assert_true(worst < 4e-16);
}

static void log_at_its_edges(void **state)
{
    (void)state;
    assert_true(elementary_log(1) == 0);
    assert_true(elementary_log(0) == -INFINITY);
    assert_true(elementary_log(-0.0) == -INFINITY);
    assert_true(elementary_log(INFINITY) == INFINITY);
    assert_true(isnan(elementary_log(-1)));
    assert_true(isnan(elementary_log(-INFINITY)));
    assert_true(isnan(elementary_log(NAN)));
    assert_true(relative(elementary_log(0x1p-1022), log(0x1p-1022)) < 4e-16);
    assert_true(relative(elementary_log(0x1.fffffffffffffp1023), log(0x1.fffffffffffffp1023)) < 4e-16);
    assert_true(relative(elementary_log(1 + 0x1p-52), log1p(0x1p-52)) < 4e-16);
    assert_true(relative(elementary_log(1 - 0x1p-53), log1p(-0x1p-53)) < 4e-16);
}

static void cospi_is_close(void **state)
{
    (void)state;
    uint64_t seed = 3;
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        double t = (numbers_next(&seed) + 1) / 2;
        worst = numbers_larger(worst, fabs(elementary_cospi(t) - (double)cosl(acosl(-1) * (long double)t)));
    }
    print_message("cospi: largest absolute error %.2g\n", worst);
    assert_true(worst < 3e-16);
    assert_true(elementary_cospi(0) == 1);
    assert_true(elementary_cospi(0.5) == 0);
    assert_true(elementary_cospi(1) == -1);
    assert_near(elementary_cospi(1.0 / 3), 0.5, 2e-16);
    assert_near(elementary_cospi(0.25), sqrt(0.5), 2e-16);
    assert_near(elementary_cospi(0.75), -sqrt(0.5), 2e-16);
}

static void atan2_is_close(void **state)
{
    (void)state;
    uint64_t seed = 4;
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        double y = fabs(numbers_next(&seed)) * (i % 3 ? 1 : 1e-9) + 1e-30, x = numbers_next(&seed) * (i % 5 ? 1 : 1e-8);
        worst = numbers_larger(worst, relative(elementary_atan2(y, x), atan2(y, x)));
    }
    print_message("atan2: largest relative error %.2g\n", worst);
    assert_true(worst < 1e-15);
}

static void atan2_at_its_edges(void **state)
{
    (void)state;
    double pi = acos(-1);
    assert_true(elementary_atan2(0, 0) == 0);
    assert_true(elementary_atan2(0, 2) == 0);
    assert_true(elementary_atan2(0, -2) == pi);
    assert_true(elementary_atan2(3, 0) == pi / 2);
    assert_near(elementary_atan2(1, 1), pi / 4, 2e-16);
    assert_near(elementary_atan2(1, -1), 3 * pi / 4, 5e-16);
    assert_true(elementary_atan2(1e-200, 1) == 1e-200);
    assert_true(isnan(elementary_atan2(NAN, 1)) && isnan(elementary_atan2(1, NAN)));
}

static void powers(void **state)
{
    (void)state;
    assert_true(elementary_power(0.5, 0) == 1);
    assert_true(elementary_power(0, 0) == 1);
    assert_true(elementary_power(0, 5) == 0);
    assert_true(elementary_power(2, 100) == 0x1p100);
    assert_true(elementary_power(1, 1000000000000) == 1);
    assert_true(elementary_power(0.9, 1000000000000) == 0);
    for (unsigned long long n = 1; n < 5000; n += 7)
        assert_true(relative(elementary_power(0.999, n), pow(0.999, (double)n)) < 2e-16 * (double)(n + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_close),   cmocka_unit_test(exp_at_its_edges),   cmocka_unit_test(log_is_close),
        cmocka_unit_test(log_at_its_edges), cmocka_unit_test(cospi_is_close),   cmocka_unit_test(atan2_is_close),
        cmocka_unit_test(atan2_at_its_edges), cmocka_unit_test(powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Matrix products in their three forms, below, at and above the blocks that sums are cut into. */
#include "numbers.h"

#include "bnsweep/core/gemm.h"

enum { MOST = 130 };

static real a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], expected[MOST * MOST];

static void multiply(enum gemm_form form, size_t m, size_t n, size_t k, double beta, real *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = beta * (double)out[i * n + j];
            for (size_t l = 0; l < k; l++)
                sum += (double)a[form == GEMM_ATB ? l * m + i : i * k + l] * (double)b[form == GEMM_ABT ? j * k + l : l * n + j];
            out[i * n + j] = (real)sum;
        }
}

static void every_form_and_size(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 7, 63, 64, 65, MOST};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double worst = 0;
    numbers_fill(1, MOST * MOST, a);
    numbers_fill(2, MOST * MOST, b);
    for (int form = GEMM_AB; form <= GEMM_ABT; form++)
        for (size_t i = 0; i < SIZES * SIZES * SIZES; i++)
            for (int beta = 0; beta <= 1; beta++) {
                size_t m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES], k = sizes[i / SIZES / SIZES];
                numbers_fill(3, m * n, c);
                memcpy(expected, c, m * n * sizeof *c);
                gemm_multiply((enum gemm_form)form, m, n, k, a, b, (real)beta, c);
                multiply((enum gemm_form)form, m, n, k, beta, expected);
                for (size_t j = 0; j < m * n; j++)
                    worst = numbers_larger(worst, fabs((double)c[j] - (double)expected[j]) / (4 + sqrt((double)k)));
            }
    print_message("largest error, per root of the terms: %.2g\n", worst);
    assert_true(worst < 16 * NUMBERS_ROUNDING);
}

/* beta = 0 overwrites: what was in c, even a NaN, does not matter. */
static void beta_of_zero_forgets(void **state)
{
    (void)state;
    numbers_fill(1, 100 * 3, a);
    numbers_fill(2, 100 * 3, b);
    for (int i = 0; i < 9; i++)
        c[i] = (real)NAN;
    gemm_multiply(GEMM_ATB, 3, 3, 100, a, b, 0, c);
    multiply(GEMM_ATB, 3, 3, 100, 0, memset(expected, 0, sizeof expected));
    assert_true(numbers_error(9, c, expected) < 64 * NUMBERS_ROUNDING);
}

static void the_library_says_what_it_is(void **state)
{
    (void)state;
    assert_non_null(strstr(gemm_library(), "OpenBLAS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_and_size),
        cmocka_unit_test(beta_of_zero_forgets),
        cmocka_unit_test(the_library_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

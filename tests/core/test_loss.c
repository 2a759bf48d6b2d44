/* Cross-entropy against its formula, at extreme logits, and counting right answers. */
#include "numbers.h"

#include "bnsweep/core/layers.h"

enum { N = 20, CLASSES = 10 };

static void the_formula(void **state)
{
    (void)state;
    real logits[N * CLASSES], dlogits[N * CLASSES];
    int32_t labels[N];
    double expected = 0;
    numbers_fill(1, N * CLASSES, logits);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        labels[i] = (int32_t)(i * 7 % CLASSES);
        for (size_t k = 0; k < CLASSES; k++) {
            logits[i * CLASSES + k] *= 5;
            sum += exp((double)logits[i * CLASSES + k]);
        }
        expected -= log(exp((double)logits[i * CLASSES + (size_t)labels[i]]) / sum);
    }
    assert_near(layers_cross_entropy(N, CLASSES, logits, labels, dlogits), expected, 1e-13 * expected);
    assert_near(layers_cross_entropy(N, CLASSES, logits, labels, NULL), expected, 1e-13 * expected);
    for (size_t i = 0; i < N; i++) {
        double sum = 0, rest = 0;
        for (size_t k = 0; k < CLASSES; k++)
            sum += exp((double)logits[i * CLASSES + k]);
        for (size_t k = 0; k < CLASSES; k++) {
            double p = exp((double)logits[i * CLASSES + k]) / sum;
            assert_near(dlogits[i * CLASSES + k], (p - (k == (size_t)labels[i])) / N, NUMBERS_ROUNDING / N + 1e-16);
            rest += (double)dlogits[i * CLASSES + k];
        }
        assert_near(rest, 0, 4 * NUMBERS_ROUNDING / N);
    }
}

static double one(real first, real second, int32_t label, real *dlogits)
{
    real logits[] = {first, second};
    return layers_cross_entropy(1, 2, logits, &label, dlogits);
}

static void extreme_logits(void **state)
{
    (void)state;
    real d[2];
    assert_near(one(0, 0, 0, d), log(2), 1e-15);
    assert_near(d[0], -0.5, 0);
    assert_near(one(1000, 0, 0, d), 0, 0);
    assert_true(d[0] == 0 && d[1] == 0);
    assert_near(one(1000, 0, 1, d), 1000, 0);
    assert_true(d[0] == 1 && d[1] == -1);
    assert_near(one(-1000, 0, 0, d), 1000, 0);
    assert_near(one((real)1e30, (real)-1e30, 1, d), (double)(real)1e30 * 2, 1e15);
    assert_near(one((real)3e38, (real)3e38, 1, d), log(2), 1e-15);
    assert_near(one(40, 0, 0, NULL), log1p(exp(-40)), 3e-16); /* below the sum's rounding: 0 is near enough */
    assert_true(!isfinite(one((real)INFINITY, 0, 0, d)));
    assert_true(isnan(one((real)NAN, 0, 0, d)) && isnan(one((real)NAN, 0, 1, d)) && isnan(one(0, (real)NAN, 0, d)));
    assert_true(one((real)-INFINITY, 0, 0, d) == INFINITY);
}

static void a_shift_of_all_logits_changes_nothing(void **state)
{
    (void)state;
    real logits[CLASSES], shifted[CLASSES];
    int32_t label = 3;
    for (size_t k = 0; k < CLASSES; k++) {
        logits[k] = (real)k / 4;
        shifted[k] = logits[k] + 512;
    }
    assert_true(layers_cross_entropy(1, CLASSES, logits, &label, NULL) == layers_cross_entropy(1, CLASSES, shifted, &label, NULL));
}

static void the_first_largest_counts_and_a_nan_never(void **state)
{
    (void)state;
    const real logits[] = {1, 3, 3, /**/ 3, 1, 3, /**/ 0, 0, 0, /**/ (real)NAN, 0, 1, /**/ 0, 1, (real)NAN, /**/ -1, -2, 5};
    const int32_t right[] = {1, 0, 0, 2, 1, 2}, wrong[] = {2, 2, 1, 0, 2, 0};
    assert_int_equal(layers_correct(6, 3, logits, right), 4);
    assert_int_equal(layers_correct(6, 3, logits, wrong), 0);
    assert_int_equal(layers_correct(0, 3, logits, right), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula),
        cmocka_unit_test(extreme_logits),
        cmocka_unit_test(a_shift_of_all_logits_changes_nothing),
        cmocka_unit_test(the_first_largest_counts_and_a_nan_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

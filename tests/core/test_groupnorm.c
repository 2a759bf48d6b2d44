/* Group norm against its definition, its invariances, and layer norm as its case of one group. */
#include "numbers.h"

#include "bnsweep/core/groupnorm.h"

enum { N = 3, C = 12, S = 10, SIZE = N * S * C };

static real x[SIZE], y[SIZE], gamma_[C], beta[C];
static double mean[N * C], invstd[N * C];

static void run(size_t groups)
{
    struct groupnorm_shape shape = {N, C, S, groups, 1e-5};
    groupnorm_forward(&shape, gamma_, beta, x, mean, invstd, y);
}

static int fill(void **state)
{
    (void)state;
    numbers_fill(1, SIZE, x);
    numbers_fill(2, C, gamma_);
    numbers_fill(3, C, beta);
    return 0;
}

static void every_number_of_groups(void **state)
{
    (void)state;
    const size_t counts[] = {1, 2, 3, 4, 6, 12};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        size_t groups = counts[k], width = C / groups;
        run(groups);
        for (size_t j = 0; j < SIZE; j++) {
            size_t image = j / (S * C), c = j % C, first = c / width * width;
            double sum = 0, square = 0, count = (double)(S * width);
            for (size_t s = 0; s < S; s++)
                for (size_t i = first; i < first + width; i++)
                    sum += (double)x[(image * S + s) * C + i];
            for (size_t s = 0; s < S; s++)
                for (size_t i = first; i < first + width; i++)
                    square += pow((double)x[(image * S + s) * C + i] - sum / count, 2);
            double xhat = ((double)x[j] - sum / count) / sqrt(square / count + 1e-5);
            assert_near(y[j], xhat * (double)gamma_[c] + (double)beta[c], 8 * NUMBERS_ROUNDING);
        }
    }
}

/* An image's output does not depend on its batchmates. */
static void images_do_not_see_each_other(void **state)
{
    (void)state;
    real first[S * C];
    run(4);
    memcpy(first, y, sizeof first);
    numbers_fill(9, SIZE - S * C, x + S * C);
    run(4);
    assert_memory_equal(first, y, sizeof first);
}

static void large_means_constant_groups_and_gamma_of_zero(void **state)
{
    (void)state;
    real plain[SIZE];
    run(4);
    memcpy(plain, y, sizeof y);
    for (size_t j = 0; j < SIZE; j++)
        x[j] = (real)((double)x[j] + 1e4);
    run(4);
    for (size_t j = 0; j < SIZE; j++)
        assert_near(y[j], plain[j], sizeof(real) == 4 ? 5e-3 : 1e-10); /* as coarse as x itself now is */
    for (size_t j = 0; j < SIZE; j++)
        x[j] = (real)7.7;
    gamma_[0] = 0;
    run(4);
    for (size_t j = 0; j < SIZE; j++)
        assert_near(y[j], beta[j % C], 1e-10);
}

static void y_may_be_x_and_dx_may_be_dy(void **state)
{
    (void)state;
    struct groupnorm_shape shape = {N, C, S, 3, 1e-5};
    real dy[SIZE], dx[SIZE], dgamma[C] = {0}, dbeta[C] = {0}, in_place[SIZE];
    numbers_fill(4, SIZE, dy);
    run(3);
    groupnorm_backward(&shape, gamma_, x, mean, invstd, dy, dgamma, dbeta, dx);
    groupnorm_backward(&shape, gamma_, x, mean, invstd, dy, dgamma, dbeta, dy);
    assert_memory_equal(dx, dy, sizeof dx);
    memcpy(in_place, x, sizeof x);
    groupnorm_forward(&shape, gamma_, beta, in_place, mean, invstd, in_place);
    assert_memory_equal(in_place, y, sizeof y);
}

static void groups_must_divide(void **state)
{
    (void)state;
    assert_ok(groupnorm_check(12, 1));
    assert_ok(groupnorm_check(12, 12));
    assert_fails(STATUS_SHAPE, "5 groups do not divide 12 channels", groupnorm_check(12, 5));
    assert_fails(STATUS_SHAPE, "24 groups do not divide 12 channels", groupnorm_check(12, 24));
    assert_fails(STATUS_SHAPE, "0 groups do not divide 12 channels", groupnorm_check(12, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_number_of_groups, fill),
        cmocka_unit_test_setup(images_do_not_see_each_other, fill),
        cmocka_unit_test_setup(large_means_constant_groups_and_gamma_of_zero, fill),
        cmocka_unit_test_setup(y_may_be_x_and_dx_may_be_dy, fill),
        cmocka_unit_test(groups_must_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every layer's backward pass against central differences; in double only, where differences keep eight digits. */
#include "numbers.h"

#include "bnsweep/core/batchnorm.h"
#include "bnsweep/core/groupnorm.h"
#include "bnsweep/core/layers.h"

enum { ROWS = 12, C = 6, SIZE = ROWS * C };

/* A scalar of the layer's output, sum of dy y, as a function of what the pointers below hold. */
static real x[SIZE], y[SIZE], dy[SIZE], gamma_[C], beta[C], weights[C * C];
static double mean[SIZE], invstd[SIZE], variance[C], r[C], d[C];
static struct batchnorm_transform transform = {mean, invstd, r, d, true};
static struct moments moments;
static size_t groups;
static double (*objective)(void);

static double dot(size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)dy[i] * (double)y[i];
    return sum;
}

static void assert_gradient(const char *name, size_t count, real *values, const real *gradient)
{
    double worst = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        const real kept = values[i], step = (real)1e-5;
        values[i] = kept + step;
        double above = objective();
        values[i] = kept - step;
        double below = objective();
        values[i] = kept;
        worst = numbers_larger(worst, fabs((above - below) / (2 * (double)step) - (double)gradient[i]));
        largest = numbers_larger(largest, fabs((double)gradient[i]));
    }
    print_message("%s: error %.2g of %.2g\n", name, worst, largest);
    assert_true(worst <= 1e-8 * (1 + largest));
}

static int fill(void **state)
{
    (void)state;
    numbers_fill(1, SIZE, x);
    numbers_fill(2, SIZE, dy);
    numbers_fill(3, C, gamma_);
    numbers_fill(4, C, beta);
    numbers_fill(5, C * C, weights);
    return 0;
}

/* r and d stay what they are: constants by definition. */
static double batchnorm_objective(void)
{
    moments_reset(&moments);
    moments_add(&moments, ROWS, x);
    moments_variance(&moments, variance);
    for (size_t c = 0; transform.batch && c < C; c++) {
        mean[c] = moments.mean[c];
        invstd[c] = 1 / sqrt(variance[c] + 1e-3);
    }
    batchnorm_forward(ROWS, C, &transform, gamma_, beta, x, y);
    return dot(SIZE);
}

static void check_batchnorm(bool batch)
{
    struct arena arena = {0};
    real dgamma[C] = {0}, dbeta[C] = {0}, dx[SIZE];
    assert_ok(moments_create(&moments, C, &arena));
    transform.batch = batch;
    for (size_t c = 0; c < C; c++)
        mean[c] = 0.1 * (double)c, invstd[c] = 1.5;
    objective = batchnorm_objective;
    objective();
    batchnorm_backward(ROWS, C, &transform, gamma_, x, dy, dgamma, dbeta, dx);
    assert_gradient("batchnorm x", SIZE, x, dx);
    assert_gradient("batchnorm gamma", C, gamma_, dgamma);
    assert_gradient("batchnorm beta", C, beta, dbeta);
    arena_free(&arena);
}

static void batchnorm(void **state)
{
    (void)state;
    for (size_t c = 0; c < C; c++)
        r[c] = 1, d[c] = 0;
    check_batchnorm(true);
    check_batchnorm(false);
}

static void batchrenorm(void **state)
{
    (void)state;
    for (size_t c = 0; c < C; c++)
        r[c] = 0.5 + 0.2 * (double)c, d[c] = (double)c - 2;
    check_batchnorm(true);
}

static double groupnorm_objective(void)
{
    struct groupnorm_shape shape = {3, C, ROWS / 3, groups, 1e-3};
    groupnorm_forward(&shape, gamma_, beta, x, mean, invstd, y);
    return dot(SIZE);
}

static void groupnorm(void **state)
{
    (void)state;
    objective = groupnorm_objective;
    for (groups = 1; groups <= C; groups++) {
        if (C % groups)
            continue;
        real dgamma[C] = {0}, dbeta[C] = {0}, dx[SIZE];
        struct groupnorm_shape shape = {3, C, ROWS / 3, groups, 1e-3};
        objective();
        groupnorm_backward(&shape, gamma_, x, mean, invstd, dy, dgamma, dbeta, dx);
        assert_gradient("groupnorm x", SIZE, x, dx);
        assert_gradient("groupnorm gamma", C, gamma_, dgamma);
        assert_gradient("groupnorm beta", C, beta, dbeta);
    }
}

static double relu_objective(void)
{
    memcpy(y, x, sizeof x);
    layers_relu(SIZE, y);
    return dot(SIZE);
}

static double pool_objective(void)
{
    layers_maxpool(1, 4, 3, C, x, y); /* the third column is left out */
    return dot(2 * C);
}

static double average_objective(void)
{
    layers_average(3, ROWS / 3, C, x, y);
    return dot(3 * C);
}

static double linear_objective(void)
{
    layers_linear(ROWS, C, C, x, weights, beta, y);
    return dot(SIZE);
}

static double loss_objective(void)
{
    static const int32_t labels[ROWS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
    return layers_cross_entropy(ROWS, C, x, labels, y) / ROWS;
}

static void the_others(void **state)
{
    (void)state;
    real dx[SIZE], dw[C * C] = {0}, db[C] = {0};
    objective = relu_objective;
    objective();
    memcpy(dx, dy, sizeof dy);
    layers_relu_backward(SIZE, y, dx);
    assert_gradient("relu", SIZE, x, dx);
    objective = pool_objective;
    layers_maxpool_backward(1, 4, 3, C, x, dy, dx);
    assert_gradient("max pool", SIZE, x, dx);
    objective = average_objective;
    layers_average_backward(3, ROWS / 3, C, dy, dx);
    assert_gradient("average", SIZE, x, dx);
    objective = linear_objective;
    layers_linear_backward(ROWS, C, C, x, weights, dy, dw, db, dx);
    assert_gradient("linear x", SIZE, x, dx);
    assert_gradient("linear w", C * C, weights, dw);
    assert_gradient("linear b", C, beta, db);
    objective = loss_objective;
    objective();
    memcpy(dx, y, sizeof y);
    assert_gradient("cross-entropy", SIZE, x, dx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(batchnorm, fill),
        cmocka_unit_test_setup(batchrenorm, fill),
        cmocka_unit_test_setup(groupnorm, fill),
        cmocka_unit_test_setup(the_others, fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

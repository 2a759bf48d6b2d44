/* Bias, ReLU, max pool, average pool and the linear layer, by value. */
#include "numbers.h"

#include "bnsweep/core/layers.h"

static void bias_is_added_and_its_gradient_is_the_sum(void **state)
{
    (void)state;
    enum { ROWS = 100, C = 70 };
    static real y[ROWS * C], before[ROWS * C];
    real b[C], db[C];
    numbers_fill(1, ROWS * C, y);
    numbers_fill(2, C, b);
    memcpy(before, y, sizeof y);
    layers_bias(ROWS, C, b, y);
    for (size_t c = 0; c < C; c++)
        db[c] = 10;
    layers_bias_backward(ROWS, C, before, db);
    for (size_t c = 0; c < C; c++) {
        double sum = 10;
        for (size_t r = 0; r < ROWS; r++) {
            assert_true(y[r * C + c] == before[r * C + c] + b[c]);
            sum += (double)before[r * C + c];
        }
        assert_near(db[c], sum, 400 * NUMBERS_ROUNDING);
    }
}

static void relu_cuts_below_zero(void **state)
{
    (void)state;
    real y[] = {-1, (real)-1e-30, 0, (real)1e-30, 2, (real)-INFINITY, (real)INFINITY, (real)NAN};
    real dy[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const real expected[] = {0, 0, 0, (real)1e-30, 2, 0, (real)INFINITY}, gradient[] = {0, 0, 0, 4, 5, 0, 7};
    layers_relu(8, y);
    assert_memory_equal(y, expected, sizeof expected);
    assert_true(isnan(y[7]));
    layers_relu_backward(8, y, dy);
    assert_memory_equal(dy, gradient, sizeof gradient);
}

static void pool_takes_the_largest_and_leaves_the_odd_edge(void **state)
{
    (void)state;
    /* one image of 5x3, two channels: value = 10 row + column, and its negative */
    real x[5 * 3 * 2], y[2 * 1 * 2], dy[] = {1, 2, 3, 4}, dx[5 * 3 * 2], expected[5 * 3 * 2] = {0};
    for (int r = 0; r < 5; r++)
        for (int s = 0; s < 3; s++) {
            x[(r * 3 + s) * 2] = (real)(10 * r + s);
            x[(r * 3 + s) * 2 + 1] = (real)-(10 * r + s);
        }
    layers_maxpool(1, 5, 3, 2, x, y);
    assert_true(y[0] == 11 && y[1] == 0 && y[2] == 31 && y[3] == -20);
    layers_maxpool_backward(1, 5, 3, 2, x, dy, dx);
    expected[(1 * 3 + 1) * 2] = 1;
    expected[0 * 2 + 1] = 2;
    expected[(3 * 3 + 1) * 2] = 3;
    expected[(2 * 3 + 0) * 2 + 1] = 4;
    assert_memory_equal(dx, expected, sizeof dx);
}

/* All 3^4 orders of a window's values, ties and all: the gradient goes to the first largest, row by row. */
static void ties_go_to_the_first(void **state)
{
    (void)state;
    for (int code = 0; code < 81; code++) {
        real x[4], y, dy = 1, dx[4];
        int first = 0;
        for (int i = 0, rest = code; i < 4; i++, rest /= 3) {
            x[i] = (real)(rest % 3);
            first = x[i] > x[first] ? i : first;
        }
        layers_maxpool(1, 2, 2, 1, x, &y);
        layers_maxpool_backward(1, 2, 2, 1, x, &dy, dx);
        assert_true(y == x[first]);
        for (int i = 0; i < 4; i++)
            assert_true(dx[i] == (i == first));
    }
}

static void a_nan_wins_wherever_it_stands(void **state)
{
    (void)state;
    for (int place = 0; place < 4; place++) {
        real x[4] = {1, 2, 3, 4}, y = 0, dy = 1, dx[4];
        x[place] = (real)NAN;
        layers_maxpool(1, 2, 2, 1, x, &y);
        assert_true(isnan(y));
        layers_maxpool_backward(1, 2, 2, 1, x, &dy, dx);
        assert_true(dx[0] + dx[1] + dx[2] + dx[3] == 1); /* one place has it */
    }
}

static void pool_of_every_size_is_the_adjoint(void **state)
{
    (void)state;
    for (size_t h = 2; h <= 7; h++)
        for (size_t w = 2; w <= 7; w++) {
            enum { N = 3, C = 5 };
            real x[N * 7 * 7 * C], y[N * 3 * 3 * C], dy[N * 3 * 3 * C], dx[N * 7 * 7 * C];
            double out = 0, in = 0;
            numbers_fill(h * 10 + w, N * h * w * C, x);
            numbers_fill(h + w, N * (h / 2) * (w / 2) * C, dy);
            layers_maxpool(N, h, w, C, x, y);
            layers_maxpool_backward(N, h, w, C, x, dy, dx);
            for (size_t i = 0; i < N * (h / 2) * (w / 2) * C; i++)
                out += (double)y[i] * (double)dy[i];
            for (size_t i = 0; i < N * h * w * C; i++)
                in += (double)x[i] * (double)dx[i];
            assert_near(in, out, 1e-12);
        }
}

static void average_is_the_mean_over_pixels(void **state)
{
    (void)state;
    enum { N = 3, PIXELS = 15, C = 7 };
    real x[N * PIXELS * C], y[N * C], dx[N * PIXELS * C];
    numbers_fill(3, N * PIXELS * C, x);
    layers_average(N, PIXELS, C, x, y);
    for (size_t i = 0; i < N * C; i++) {
        double sum = 0;
        for (size_t p = 0; p < PIXELS; p++)
            sum += (double)x[(i / C * PIXELS + p) * C + i % C];
        assert_near(y[i], sum / PIXELS, 8 * NUMBERS_ROUNDING);
    }
    layers_average_backward(N, PIXELS, C, y, dx);
    for (size_t i = 0; i < N * PIXELS * C; i++)
        assert_near(dx[i], (double)y[i / (PIXELS * C) * C + i % C] / PIXELS, 2 * NUMBERS_ROUNDING);
}

static void linear_by_hand(void **state)
{
    (void)state;
    const real x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, -1, 0, 2, 3, 1}, b[] = {10, 20}, dy[] = {1, 2, -1, 3};
    real y[4], dw[6] = {100}, db[2] = {0}, dx[6];
    layers_linear(2, 3, 2, x, w, b, y);
    assert_true(y[0] == 20 && y[1] == 26 && y[2] == 32 && y[3] == 32);
    layers_linear_backward(2, 3, 2, x, w, dy, dw, db, dx);
    const real expected_dw[] = {97, 14, -3, 19, -3, 24}, expected_dx[] = {-1, 4, 5, -4, 6, 0};
    assert_memory_equal(dw, expected_dw, sizeof dw);
    assert_memory_equal(dx, expected_dx, sizeof dx);
    assert_true(db[0] == 0 && db[1] == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bias_is_added_and_its_gradient_is_the_sum),
        cmocka_unit_test(relu_cuts_below_zero),
        cmocka_unit_test(pool_takes_the_largest_and_leaves_the_odd_edge),
        cmocka_unit_test(ties_go_to_the_first),
        cmocka_unit_test(a_nan_wins_wherever_it_stands),
        cmocka_unit_test(pool_of_every_size_is_the_adjoint),
        cmocka_unit_test(average_is_the_mean_over_pixels),
        cmocka_unit_test(linear_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* One suite for every convolution engine: the naive one below is the definition, written out. */
#include "numbers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bnsweep/base/mem.h"
#include "bnsweep/core/conv.h"
#include "bnsweep/core/direct.h"

static size_t naive_workspace(const struct conv_shape *shape)
{
    (void)shape;
    return 0;
}

/* Call `visit` for each product of the definition: y[i][r][s][o] = sum over a, b, c of w[a][b][c][o] x[i][r+a-1][s+b-1][c]. */
typedef void visit_product(void *context, size_t x, size_t w, size_t y);

static void each_product(const struct conv_shape *shape, size_t n, visit_product *visit, void *context)
{
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < shape->h; r++)
            for (size_t s = 0; s < shape->w; s++)
                for (size_t a = 0; a < 3; a++)
                    for (size_t b = 0; b < 3; b++) {
                        if (r + a < 1 || r + a > shape->h || s + b < 1 || s + b > shape->w)
                            continue;
                        for (size_t c = 0; c < shape->cin; c++)
                            for (size_t o = 0; o < shape->cout; o++)
                                visit(context, ((i * shape->h + r + a - 1) * shape->w + s + b - 1) * shape->cin + c,
                                      ((a * 3 + b) * shape->cin + c) * shape->cout + o,
                                      ((i * shape->h + r) * shape->w + s) * shape->cout + o);
                    }
}

struct product {
    const real *first, *second;
    double *out;
};

static void add_y(void *context, size_t x, size_t w, size_t y)
{
    struct product *p = context;
    p->out[y] += (double)p->first[x] * (double)p->second[w];
}

static void add_dw(void *context, size_t x, size_t w, size_t y)
{
    struct product *p = context;
    p->out[w] += (double)p->first[x] * (double)p->second[y];
}

static void add_dx(void *context, size_t x, size_t w, size_t y)
{
    struct product *p = context;
    p->out[x] += (double)p->first[y] * (double)p->second[w];
}

/* out[size] = the sums that `visit` makes, or out += them. */
static void naive(const struct conv_shape *shape, size_t n, visit_product *visit, const real *first, const real *second,
                  size_t size, bool add, real *out)
{
    double *sums = mem_array(size, sizeof *sums);
    assert_non_null(sums);
    each_product(shape, n, visit, &(struct product){first, second, sums});
    for (size_t i = 0; i < size; i++)
        out[i] = (real)(sums[i] + (add ? (double)out[i] : 0));
    mem_free(sums);
}

static void naive_forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, real *workspace)
{
    (void)workspace;
    naive(shape, n, add_y, x, w, n * shape->h * shape->w * shape->cout, false, y);
}

static void naive_backward_weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw,
                                   real *workspace)
{
    (void)workspace;
    naive(shape, n, add_dw, x, dy, CONV_TAPS * shape->cin * shape->cout, true, dw);
}

static void naive_backward_data(const struct conv_shape *shape, size_t n, const real *dy, const real *w, real *dx, real *workspace)
{
    (void)workspace;
    naive(shape, n, add_dx, dy, w, n * shape->h * shape->w * shape->cin, false, dx);
}

static const struct conv_engine conv_naive = {"naive", naive_workspace, naive_forward, naive_backward_weights, naive_backward_data};

/* All that this processor can run. */
static const struct conv_engine *engines[5] = {&conv_naive, &conv_reference, &direct_baseline_engine};
static size_t engine_count = 3;

static void find_engines(void)
{
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        engines[engine_count++] = &direct_avx2_engine;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        engines[engine_count++] = &direct_avx512_engine;
#endif
    for (size_t i = 0; i < engine_count; i++)
        print_message("engine %s\n", engines[i]->name);
}

/* Images of one pixel, of one row or column, odd, and of the experiment; n beyond and not a multiple of the reference's group. */
static const struct {
    struct conv_shape shape;
    size_t n;
} cases[] = {
    {{1, 1, 1, 1}, 1},  {{1, 1, 2, 3}, 1030}, {{1, 5, 3, 2}, 2}, {{5, 1, 2, 3}, 3},   {{2, 2, 1, 70}, 3},   {{3, 3, 70, 1}, 2},
    {{7, 5, 3, 4}, 31}, {{8, 8, 5, 7}, 17},   {{9, 4, 8, 8}, 29}, {{16, 16, 3, 9}, 5}, {{32, 32, 3, 4}, 2}, {{33, 32, 1, 2}, 2},
    {{1, 1, 16, 16}, 3}, {{8, 8, 16, 32}, 3}, {{9, 7, 32, 48}, 2}, {{5, 11, 17, 16}, 3}, {{16, 16, 3, 32}, 2}, {{6, 17, 48, 80}, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The arrays of one case, exactly as long as they must be. */
struct problem {
    const struct conv_engine *engine;
    struct conv_shape shape;
    size_t n, x_size, w_size, y_size;
    real *x, *w, *y, *dy, *dx, *dw, *workspace;
};

static real *array(size_t count)
{
    real *values = malloc(count * sizeof *values + !count); /* not padded as mem_array's are: a sanitizer sees any overrun */
    assert_non_null(values);
    return values;
}

static struct problem create(size_t engine, size_t index)
{
    struct conv_shape s = cases[index].shape;
    struct problem p = {.engine = engines[engine], .shape = s, .n = cases[index].n};
    p.x_size = p.n * s.h * s.w * s.cin;
    p.y_size = p.n * s.h * s.w * s.cout;
    p.w_size = CONV_TAPS * s.cin * s.cout;
    p.x = array(p.x_size);
    p.dx = array(p.x_size);
    p.y = array(p.y_size);
    p.dy = array(p.y_size);
    p.w = array(p.w_size);
    p.dw = array(p.w_size);
    p.workspace = array(p.engine->workspace(&s));
    numbers_fill(100 + index, p.x_size, p.x);
    numbers_fill(200 + index, p.w_size, p.w);
    numbers_fill(300 + index, p.y_size, p.dy);
    return p;
}

static void destroy(struct problem *p)
{
    real *const arrays[] = {p->x, p->dx, p->y, p->dy, p->w, p->dw, p->workspace};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void forward(struct problem *p)
{
    p->engine->forward(&p->shape, p->n, p->x, p->w, p->y, p->workspace);
}

static void backward(struct problem *p)
{
    memset(p->dw, 0, p->w_size * sizeof *p->dw);
    p->engine->backward_weights(&p->shape, p->n, p->x, p->dy, p->dw, p->workspace);
    p->engine->backward_data(&p->shape, p->n, p->dy, p->w, p->dx, p->workspace);
}

/* The rounding that a sum of this many terms may show. */
static double allowed(size_t terms)
{
    return (16 + sqrt((double)terms)) * NUMBERS_ROUNDING;
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    double worst = 0;
    for (size_t index = 0; index < CASES; index++) {
        struct problem exact = create(0, index);
        forward(&exact);
        backward(&exact);
        for (size_t engine = 1; engine < engine_count; engine++) {
            struct problem p = create(engine, index);
            forward(&p);
            backward(&p);
            double y = numbers_error(p.y_size, p.y, exact.y), dw = numbers_error(p.w_size, p.dw, exact.dw),
                   dx = numbers_error(p.x_size, p.dx, exact.dx);
            worst = fmax(worst, fmax(y, fmax(dw, dx)));
            if (!(y < allowed(9 * p.shape.cin) && dx < allowed(9 * p.shape.cout) && dw < allowed(p.y_size / p.shape.cout)))
                fail_msg("%s, case %zu: errors %g %g %g", p.engine->name, index, y, dw, dx);
            destroy(&p);
        }
        destroy(&exact);
    }
    print_message("largest relative error: %.2g\n", worst);
}

static double dot(size_t count, const real *a, const real *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* <A x, dy> = <x, A' dy> in x, and in w. */
static void backward_is_the_adjoint(void **state)
{
    (void)state;
    for (size_t engine = 0; engine < engine_count; engine++)
        for (size_t index = 0; index < CASES; index++) {
            struct problem p = create(engine, index);
            forward(&p);
            backward(&p);
            double product = dot(p.y_size, p.y, p.dy), size = sqrt(dot(p.y_size, p.y, p.y) * dot(p.y_size, p.dy, p.dy));
            assert_near(dot(p.x_size, p.x, p.dx), product, 8 * NUMBERS_ROUNDING * size);
            assert_near(dot(p.w_size, p.w, p.dw), product, 8 * NUMBERS_ROUNDING * size);
            destroy(&p);
        }
}

static void weights_gradient_is_added(void **state)
{
    (void)state;
    for (size_t engine = 0; engine < engine_count; engine++) {
        struct problem p = create(engine, 6);
        backward(&p);
        real *twice = array(p.w_size);
        memcpy(twice, p.dw, p.w_size * sizeof *twice);
        p.engine->backward_weights(&p.shape, p.n, p.x, p.dy, twice, p.workspace);
        for (size_t i = 0; i < p.w_size; i++)
            twice[i] /= 2;
        assert_true(numbers_error(p.w_size, twice, p.dw) < 16 * NUMBERS_ROUNDING);
        free(twice);
        destroy(&p);
    }
}

/* A(x + 3 z) = A x + 3 A z. */
static void forward_is_linear(void **state)
{
    (void)state;
    for (size_t engine = 0; engine < engine_count; engine++)
        for (size_t index = 0; index < CASES; index++) {
            struct problem p = create(engine, index);
            real *sum = array(p.y_size), *x = array(p.x_size);
            memcpy(x, p.x, p.x_size * sizeof *x);
            forward(&p);
            memcpy(sum, p.y, p.y_size * sizeof *sum);
            numbers_fill(400 + index, p.x_size, p.x);
            forward(&p);
            for (size_t i = 0; i < p.y_size; i++)
                sum[i] += 3 * p.y[i];
            for (size_t i = 0; i < p.x_size; i++)
                p.x[i] = x[i] + 3 * p.x[i];
            forward(&p);
            assert_true(numbers_error(p.y_size, p.y, sum) < 2 * allowed(9 * p.shape.cin));
            free(sum);
            free(x);
            destroy(&p);
        }
}

/* One pixel that is 1 gives the kernel turned round, exactly, and 0 elsewhere: no other image is touched. */
static void an_impulse_gives_the_kernel(void **state)
{
    (void)state;
    for (size_t engine = 0; engine < engine_count; engine++) {
        struct problem p = create(engine, 6); /* 7x5, 3 to 4 channels, 31 images */
        size_t h = p.shape.h, w = p.shape.w, image = 20, r0 = 3, s0 = 2, c0 = 1;
        memset(p.x, 0, p.x_size * sizeof *p.x);
        p.x[((image * h + r0) * w + s0) * p.shape.cin + c0] = 1;
        forward(&p);
        for (size_t i = 0; i < p.n; i++)
            for (size_t r = 0; r < h; r++)
                for (size_t s = 0; s < w; s++)
                    for (size_t o = 0; o < p.shape.cout; o++) {
                        size_t a = r0 + 1 - r, b = s0 + 1 - s; /* out of range (also by wrapping) where the kernel does not reach */
                        real expected = i == image && a < 3 && b < 3 ? p.w[((a * 3 + b) * p.shape.cin + c0) * p.shape.cout + o] : 0;
                        assert_true(p.y[((i * h + r) * w + s) * p.shape.cout + o] == expected);
                    }
        destroy(&p);
    }
}

/* An image moved by a row and a column gives the output moved, away from the edges. */
static void a_shift_moves_the_output(void **state)
{
    (void)state;
    for (size_t engine = 0; engine < engine_count; engine++) {
        struct problem p = create(engine, 9); /* 16x16 */
        size_t cin = p.shape.cin, cout = p.shape.cout, h = 16, w = 16;
        real *before = array(p.y_size);
        forward(&p);
        memcpy(before, p.y, p.y_size * sizeof *before);
        memmove(p.x + (w + 1) * cin, p.x, (h * w - w - 1) * cin * sizeof *p.x); /* the first image alone */
        forward(&p);
        for (size_t r = 2; r < h - 1; r++)
            for (size_t s = 2; s < w - 1; s++)
                for (size_t o = 0; o < cout; o++)
                    assert_near(p.y[(r * w + s) * cout + o], before[((r - 1) * w + s - 1) * cout + o], 64 * NUMBERS_ROUNDING);
        assert_memory_equal(p.y + h * w * cout, before + h * w * cout, (p.y_size - h * w * cout) * sizeof *before);
        free(before);
        destroy(&p);
    }
}

/* An image's bits do not depend on the other images of the batch; alone it is the same to rounding. */
static void an_image_does_not_see_its_batch(void **state)
{
    (void)state;
    for (size_t engine = 0; engine < engine_count; engine++)
        for (size_t index = 0; index < CASES; index++) {
            struct problem p = create(engine, index);
            size_t x_image = p.x_size / p.n, y_image = p.y_size / p.n;
            real *alone = array(y_image > x_image ? y_image : x_image);
            forward(&p);
            backward(&p);
            for (size_t i = 0; i < p.n; i += p.n > 100 ? 101 : 1) {
                p.engine->forward(&p.shape, 1, p.x + i * x_image, p.w, alone, p.workspace);
                assert_true(numbers_error(y_image, alone, p.y + i * y_image) < 4 * allowed(9 * p.shape.cin));
                p.engine->backward_data(&p.shape, 1, p.dy + i * y_image, p.w, alone, p.workspace);
                assert_true(numbers_error(x_image, alone, p.dx + i * x_image) < 4 * allowed(9 * p.shape.cout));
            }
            memcpy(alone, p.y, y_image * sizeof *alone);
            numbers_fill(600, p.x_size - x_image, p.x + x_image);
            forward(&p);
            assert_memory_equal(alone, p.y, y_image * sizeof *alone);
            memcpy(alone, p.dx, x_image * sizeof *alone);
            numbers_fill(601, p.y_size - y_image, p.dy + y_image);
            backward(&p);
            assert_memory_equal(alone, p.dx, x_image * sizeof *alone);
            free(alone);
            destroy(&p);
        }
}

/* Rows hold each pixel's patch, 0 outside; row2im is the adjoint. */
static void rows_are_patches_and_back(void **state)
{
    (void)state;
    for (size_t index = 0; index < CASES; index++) {
        struct problem p = create(0, index);
        size_t h = p.shape.h, w = p.shape.w, c = p.shape.cin, count = p.n * h * w * CONV_TAPS * c;
        real *rows = array(count), *other = array(count);
        memset(rows, 0xff, count * sizeof *rows);
        conv_im2row(&p.shape, p.n, p.x, rows);
        for (size_t j = 0; j < count; j++) {
            size_t pixel = j / (CONV_TAPS * c), tap = j / c % CONV_TAPS, i = pixel / (h * w);
            size_t r = pixel / w % h + tap / 3, s = pixel % w + tap % 3; /* one more than the source's */
            bool inside = r >= 1 && r <= h && s >= 1 && s <= w;
            assert_true(rows[j] == (inside ? p.x[((i * h + r - 1) * w + s - 1) * c + j % c] : 0));
        }
        numbers_fill(500 + index, count, other);
        conv_row2im(&p.shape, p.n, other, p.dx);
        double size = sqrt(dot(count, rows, rows) * dot(count, other, other));
        assert_near(dot(p.x_size, p.x, p.dx), dot(count, rows, other), 8 * NUMBERS_ROUNDING * size);
        free(rows);
        free(other);
        destroy(&p);
    }
}

static void torch_layout_goes_there_and_back(void **state)
{
    (void)state;
    enum { CIN = 3, COUT = 5 };
    float torch[COUT * CIN * 9], back[COUT * CIN * 9];
    real w[9 * CIN * COUT];
    for (int i = 0; i < COUT * CIN * 9; i++)
        torch[i] = (float)i;
    conv_weights_from_torch(CIN, COUT, torch, w);
    for (int o = 0; o < COUT; o++)
        for (int c = 0; c < CIN; c++)
            for (int tap = 0; tap < 9; tap++)
                assert_true((double)w[(tap * CIN + c) * COUT + o] == (o * CIN + c) * 9 + tap);
    conv_weights_to_torch(CIN, COUT, w, back);
    assert_memory_equal(back, torch, sizeof torch);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    size_t huge = SIZE_MAX / 8;
    assert_ok(conv_check(&(struct conv_shape){32, 32, 3, 32}, 128));
    assert_fails(STATUS_SHAPE, "at least 1", conv_check(&(struct conv_shape){32, 32, 3, 32}, 0));
    assert_fails(STATUS_SHAPE, "at least 1", conv_check(&(struct conv_shape){0, 32, 3, 32}, 1));
    assert_fails(STATUS_SHAPE, "at least 1", conv_check(&(struct conv_shape){32, 0, 3, 32}, 1));
    assert_fails(STATUS_SHAPE, "at least 1", conv_check(&(struct conv_shape){32, 32, 0, 32}, 1));
    assert_fails(STATUS_SHAPE, "32x32, 3 to 0 channels", conv_check(&(struct conv_shape){32, 32, 3, 0}, 1));
    assert_fails(STATUS_SHAPE, "too large", conv_check(&(struct conv_shape){32, 32, 3, 32}, huge));
    assert_fails(STATUS_SHAPE, "too large", conv_check(&(struct conv_shape){huge, huge, 3, 32}, 1));
    assert_fails(STATUS_SHAPE, "too large", conv_check(&(struct conv_shape){1, 1, (size_t)1 << 31, 1}, 1));
    assert_fails(STATUS_SHAPE, "too large", conv_check(&(struct conv_shape){1, 1, 1, (size_t)1 << 31}, 1));
    assert_fails(STATUS_SHAPE, "too large", conv_check(&(struct conv_shape){1 << 16, 1 << 16, 1, 1}, 1));
}

int main(void)
{
    find_engines();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),   cmocka_unit_test(backward_is_the_adjoint),
        cmocka_unit_test(weights_gradient_is_added),    cmocka_unit_test(forward_is_linear),
        cmocka_unit_test(an_impulse_gives_the_kernel),  cmocka_unit_test(a_shift_moves_the_output),
        cmocka_unit_test(an_image_does_not_see_its_batch), cmocka_unit_test(rows_are_patches_and_back),
        cmocka_unit_test(torch_layout_goes_there_and_back), cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

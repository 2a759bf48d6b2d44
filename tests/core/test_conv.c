/* One suite for every way to compute a convolution: the naive one below is the definition, written out. */
#include "numbers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bnsweep/base/mem.h"
#include "bnsweep/core/conv.h"
#include "bnsweep/core/engine.h"

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

enum way_kind { NAIVE, REFERENCE, DIRECT, WINOGRAD };

struct way {
    enum way_kind kind;
    const struct engine *engine; /* of the last two */
};

/* All that this processor can run. */
static struct way ways[2 + 2 * 3] = {{NAIVE, NULL}, {REFERENCE, NULL}};
static size_t way_count = 2;

static void find_ways(void)
{
    for (size_t i = 0; engine_at(i); i++) {
        if (!engine_at(i)->block)
            continue;
        print_message("engine %s\n", engine_at(i)->name);
        ways[way_count++] = (struct way){DIRECT, engine_at(i)};
        ways[way_count++] = (struct way){WINOGRAD, engine_at(i)};
    }
}

static const char *way_name(const struct way *way)
{
    static const char *const names[] = {"naive", "reference", "direct", "winograd"};
    return way->engine ? way->engine->name : names[way->kind];
}

static bool way_fits(const struct way *way, const struct conv_shape *shape)
{
    if (way->kind == DIRECT)
        return shape->cout % 16 == 0 && (shape->cin % 16 == 0 || shape->cin < 16);
    return way->kind != WINOGRAD || winograd_fits(shape);
}

/* The images of x[n][h][w][c] with a border of zeros. */
static real *with_border(const struct conv_shape *shape, size_t n, size_t c, const real *x)
{
    real *out = calloc(n * (shape->h + 2) * (shape->w + 2) * c, sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < shape->h; r++)
            memcpy(out + ((i * (shape->h + 2) + r + 1) * (shape->w + 2) + 1) * c, x + (i * shape->h + r) * shape->w * c,
                   shape->w * c * sizeof *out);
    return out;
}

static real *scratch(size_t count)
{
    real *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (real)NAN; /* whoever reads what nobody wrote is seen */
    return values;
}

static void way_forward(const struct way *way, const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y)
{
    real *room = scratch(way->kind == REFERENCE ? conv_workspace(shape) : winograd_workspace(shape));
    if (way->kind == NAIVE)
        naive(shape, n, add_y, x, w, n * shape->h * shape->w * shape->cout, false, y);
    if (way->kind == REFERENCE)
        conv_forward(shape, n, x, w, y, room);
    if (way->kind == DIRECT || way->kind == WINOGRAD) {
        struct ahead ahead = {0};
        real *bordered = with_border(shape, n, shape->cin, x), *u = scratch(WINOGRAD_FREQUENCIES * shape->cin * shape->cout);
        if (way->kind == DIRECT) {
            way->engine->direct->forward(shape, n, bordered, w, y, &ahead);
        } else {
            way->engine->winograd->transform(shape->cin, shape->cout, w, u);
            way->engine->winograd->forward(shape, n, bordered, u, y, room, &ahead);
        }
        free(bordered);
        free(u);
    }
    free(room);
}

/* dw += . */
static void way_weights(const struct way *way, const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw)
{
    size_t plane = shape->cin * shape->cout;
    real *room = scratch(way->kind == REFERENCE ? conv_workspace(shape) : winograd_workspace(shape));
    if (way->kind == NAIVE)
        naive(shape, n, add_dw, x, dy, CONV_TAPS * plane, true, dw);
    if (way->kind == REFERENCE)
        conv_backward_weights(shape, n, x, dy, dw, room);
    if (way->kind == DIRECT || way->kind == WINOGRAD) {
        struct ahead ahead = {0};
        real *x_bordered = with_border(shape, n, shape->cin, x), *dy_bordered = with_border(shape, n, shape->cout, dy);
        if (way->kind == DIRECT) {
            way->engine->direct->weights(shape, n, x_bordered, dy_bordered, dw, &ahead);
        } else {
            real *du = calloc(WINOGRAD_FREQUENCIES * plane, sizeof *du), *more = scratch(CONV_TAPS * plane);
            assert_non_null(du);
            way->engine->winograd->weights(shape, n, x_bordered, dy_bordered, du, room, &ahead);
            way->engine->winograd->gradient(shape->cin, shape->cout, du, more);
            for (size_t i = 0; i < CONV_TAPS * plane; i++)
                dw[i] += more[i];
            free(du);
            free(more);
        }
        free(x_bordered);
        free(dy_bordered);
    }
    free(room);
}

/* The kernels take the convolution with the weights turned round and transposed; where its output channels do not fit, the definition. */
static void way_data(const struct way *way, const struct conv_shape *shape, size_t n, const real *dy, const real *w, real *dx)
{
    struct conv_shape turned = {shape->h, shape->w, shape->cout, shape->cin};
    if (way->kind == REFERENCE) {
        real *room = scratch(conv_workspace(shape));
        conv_backward_data(shape, n, dy, w, dx, room);
        free(room);
    } else if (way->kind == NAIVE || !way_fits(way, &turned)) {
        naive(shape, n, add_dx, dy, w, n * shape->h * shape->w * shape->cin, false, dx);
    } else {
        real *weights = scratch(CONV_TAPS * shape->cin * shape->cout);
        for (size_t tap = 0; tap < CONV_TAPS; tap++)
            for (size_t c = 0; c < shape->cin; c++)
                for (size_t o = 0; o < shape->cout; o++)
                    weights[((8 - tap) * shape->cout + o) * shape->cin + c] = w[(tap * shape->cin + c) * shape->cout + o];
        way_forward(way, &turned, n, dy, weights, dx);
        free(weights);
    }
}

/* Images of one pixel, of one row or column, odd, and of the experiment; n beyond and not a multiple of the reference's group. */
static const struct {
    struct conv_shape shape;
    size_t n;
} cases[] = {
    {{1, 1, 1, 1}, 1},  {{1, 1, 2, 3}, 1030}, {{1, 5, 3, 2}, 2}, {{5, 1, 2, 3}, 3},   {{2, 2, 1, 70}, 3},   {{3, 3, 70, 1}, 2},
    {{7, 5, 3, 4}, 31}, {{8, 8, 5, 7}, 17},   {{9, 4, 8, 8}, 29}, {{16, 16, 3, 9}, 5}, {{32, 32, 3, 4}, 2}, {{33, 32, 1, 2}, 2},
    {{1, 1, 16, 16}, 3}, {{8, 8, 16, 32}, 3}, {{9, 7, 32, 48}, 2}, {{5, 11, 17, 16}, 3}, {{16, 16, 3, 32}, 2}, {{6, 17, 48, 80}, 1},
    {{2, 2, 16, 16}, 1}, {{2, 4, 16, 48}, 21},  {{8, 8, 64, 64}, 5}, {{12, 10, 48, 16}, 3}, {{16, 16, 32, 64}, 1}, {{4, 4, 144, 80}, 3},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The arrays of one case, exactly as long as they must be. */
struct problem {
    const struct way *way;
    struct conv_shape shape;
    size_t n, x_size, w_size, y_size;
    real *x, *w, *y, *dy, *dx, *dw;
};

static real *array(size_t count)
{
    real *values = malloc(count * sizeof *values + !count); /* not padded as mem_array's are: a sanitizer sees any overrun */
    assert_non_null(values);
    return values;
}

static struct problem create(size_t way, size_t index)
{
    struct conv_shape s = cases[index].shape;
    struct problem p = {.way = &ways[way], .shape = s, .n = cases[index].n};
    p.x_size = p.n * s.h * s.w * s.cin;
    p.y_size = p.n * s.h * s.w * s.cout;
    p.w_size = CONV_TAPS * s.cin * s.cout;
    p.x = array(p.x_size);
    p.dx = array(p.x_size);
    p.y = array(p.y_size);
    p.dy = array(p.y_size);
    p.w = array(p.w_size);
    p.dw = array(p.w_size);
    numbers_fill(100 + index, p.x_size, p.x);
    numbers_fill(200 + index, p.w_size, p.w);
    numbers_fill(300 + index, p.y_size, p.dy);
    return p;
}

static void destroy(struct problem *p)
{
    real *const arrays[] = {p->x, p->dx, p->y, p->dy, p->w, p->dw};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void forward(struct problem *p)
{
    way_forward(p->way, &p->shape, p->n, p->x, p->w, p->y);
}

static void backward(struct problem *p)
{
    memset(p->dw, 0, p->w_size * sizeof *p->dw);
    way_weights(p->way, &p->shape, p->n, p->x, p->dy, p->dw);
    way_data(p->way, &p->shape, p->n, p->dy, p->w, p->dx);
}

/* The first case from this one on that the way can do. */
static size_t case_for(size_t way, size_t index)
{
    while (!way_fits(&ways[way], &cases[index].shape))
        index++;
    return index;
}

/* The rounding that a sum of this many terms may show; Winograd's sums have larger terms. */
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
        for (size_t way = 1; way < way_count; way++) {
            if (!way_fits(&ways[way], &cases[index].shape))
                continue;
            struct problem p = create(way, index);
            forward(&p);
            backward(&p);
            double y = numbers_error(p.y_size, p.y, exact.y), dw = numbers_error(p.w_size, p.dw, exact.dw),
                   dx = numbers_error(p.x_size, p.dx, exact.dx);
            worst = numbers_larger(worst, numbers_larger(y, numbers_larger(dw, dx)));
            if (!(y < allowed(9 * p.shape.cin) && dx < allowed(9 * p.shape.cout) && dw < allowed(p.y_size / p.shape.cout)))
                fail_msg("%s, case %zu: errors %g %g %g", way_name(p.way), index, y, dw, dx);
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
    for (size_t way = 0; way < way_count; way++)
        for (size_t index = 0; index < CASES; index++) {
            if (!way_fits(&ways[way], &cases[index].shape))
                continue;
            struct problem p = create(way, index);
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
    for (size_t way = 0; way < way_count; way++) {
        struct problem p = create(way, case_for(way, 6));
        backward(&p);
        real *twice = array(p.w_size);
        memcpy(twice, p.dw, p.w_size * sizeof *twice);
        way_weights(p.way, &p.shape, p.n, p.x, p.dy, twice);
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
    for (size_t way = 0; way < way_count; way++)
        for (size_t index = 0; index < CASES; index++) {
            if (!way_fits(&ways[way], &cases[index].shape))
                continue;
            struct problem p = create(way, index);
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
    for (size_t way = 0; way < way_count; way++) {
        struct problem p = create(way, case_for(way, 6));
        size_t h = p.shape.h, w = p.shape.w, image = p.n / 2, r0 = h / 2, s0 = w / 2, c0 = 1;
        double tolerance = ways[way].kind == WINOGRAD ? 8 * NUMBERS_ROUNDING : 0;
        memset(p.x, 0, p.x_size * sizeof *p.x);
        p.x[((image * h + r0) * w + s0) * p.shape.cin + c0] = 1;
        forward(&p);
        for (size_t i = 0; i < p.n; i++)
            for (size_t r = 0; r < h; r++)
                for (size_t s = 0; s < w; s++)
                    for (size_t o = 0; o < p.shape.cout; o++) {
                        size_t a = r0 + 1 - r, b = s0 + 1 - s; /* out of range (also by wrapping) where the kernel does not reach */
                        real expected = i == image && a < 3 && b < 3 ? p.w[((a * 3 + b) * p.shape.cin + c0) * p.shape.cout + o] : 0;
                        assert_near(p.y[((i * h + r) * w + s) * p.shape.cout + o], expected, i == image ? tolerance : 0);
                    }
        destroy(&p);
    }
}

/* An image moved by a row and a column gives the output moved, away from the edges. */
static void a_shift_moves_the_output(void **state)
{
    (void)state;
    for (size_t way = 0; way < way_count; way++) {
        struct problem p = create(way, case_for(way, ways[way].engine ? 13 : 9)); /* not one pixel large */
        size_t cin = p.shape.cin, cout = p.shape.cout, h = p.shape.h, w = p.shape.w;
        real *before = array(p.y_size);
        forward(&p);
        memcpy(before, p.y, p.y_size * sizeof *before);
        memmove(p.x + (w + 1) * cin, p.x, (h * w - w - 1) * cin * sizeof *p.x); /* the first image alone */
        forward(&p);
        for (size_t r = 2; r < h - 1; r++)
            for (size_t s = 2; s < w - 1; s++)
                for (size_t o = 0; o < cout; o++)
                    assert_near(p.y[(r * w + s) * cout + o], before[((r - 1) * w + s - 1) * cout + o], 8 * allowed(9 * cin));
        assert_memory_equal(p.y + h * w * cout, before + h * w * cout, (p.y_size - h * w * cout) * sizeof *before);
        free(before);
        destroy(&p);
    }
}

/* An image's bits do not depend on the other images of the batch; alone it is the same to rounding. */
static void an_image_does_not_see_its_batch(void **state)
{
    (void)state;
    for (size_t way = 0; way < way_count; way++)
        for (size_t index = 0; index < CASES; index++) {
            if (!way_fits(&ways[way], &cases[index].shape))
                continue;
            struct problem p = create(way, index);
            size_t x_image = p.x_size / p.n, y_image = p.y_size / p.n;
            real *alone = array(y_image > x_image ? y_image : x_image);
            forward(&p);
            backward(&p);
            for (size_t i = 0; i < p.n; i += p.n > 100 ? 101 : 1) {
                way_forward(p.way, &p.shape, 1, p.x + i * x_image, p.w, alone);
                assert_true(numbers_error(y_image, alone, p.y + i * y_image) < 4 * allowed(9 * p.shape.cin));
                way_data(p.way, &p.shape, 1, p.dy + i * y_image, p.w, alone);
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
    find_ways();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),   cmocka_unit_test(backward_is_the_adjoint),
        cmocka_unit_test(weights_gradient_is_added),    cmocka_unit_test(forward_is_linear),
        cmocka_unit_test(an_impulse_gives_the_kernel),  cmocka_unit_test(a_shift_moves_the_output),
        cmocka_unit_test(an_image_does_not_see_its_batch), cmocka_unit_test(rows_are_patches_and_back),
        cmocka_unit_test(torch_layout_goes_there_and_back), cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

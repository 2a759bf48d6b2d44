/* The reference engine: im2row and BLAS, a few images at a time so that the patch matrix stays in the cache. */
#include "bnsweep/core/conv.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/core/gemm.h"

#include <limits.h>
#include <string.h>

/* Rows of the patch matrix in one product: large enough for BLAS to run at speed, small enough for the level-2 cache. */
enum { PATCH_ROWS = 256 };

static size_t images_at_once(const struct conv_shape *shape)
{
    size_t pixels = shape->h * shape->w;
    return pixels >= PATCH_ROWS ? 1 : PATCH_ROWS / pixels;
}

enum status conv_check(const struct conv_shape *shape, size_t n)
{
    size_t widest = shape->cin > shape->cout ? shape->cin : shape->cout, elements = CONV_TAPS;
    if (!n || !shape->h || !shape->w || !shape->cin || !shape->cout)
        return status_fail(STATUS_SHAPE, "convolution of %zu images %zux%zu, %zu to %zu channels: every size must be at least 1",
                           n, shape->h, shape->w, shape->cin, shape->cout);
    if (!mem_multiply(&elements, n) || !mem_multiply(&elements, shape->h) || !mem_multiply(&elements, shape->w) ||
        !mem_multiply(&elements, widest) || !mem_multiply(&elements, sizeof(real)) ||
        shape->h * shape->w > INT_MAX || shape->cin > INT_MAX / CONV_TAPS || shape->cout > INT_MAX)
        return status_fail(STATUS_SHAPE, "convolution of %zu images %zux%zu, %zu to %zu channels is too large", n, shape->h,
                           shape->w, shape->cin, shape->cout);
    return STATUS_OK;
}

/* Visit image row `r`'s three taps: source row, or NULL outside. */
static const real *source_row(const struct conv_shape *shape, const real *image, size_t r, size_t tap)
{
    size_t row = r + tap; /* one more than the source row */
    return row >= 1 && row <= shape->h ? image + (row - 1) * shape->w * shape->cin : NULL;
}

void conv_im2row(const struct conv_shape *shape, size_t n, const real *x, real *rows)
{
    size_t c = shape->cin, patch = CONV_TAPS * c, width = shape->w;
    for (size_t i = 0; i < n; i++, x += shape->h * width * c)
        for (size_t r = 0; r < shape->h; r++, rows += width * patch)
            for (size_t a = 0; a < 3; a++) {
                const real *source = source_row(shape, x, r, a);
                for (size_t s = 0; s < width; s++) {
                    real *to = rows + s * patch + 3 * a * c;
                    size_t left = s == 0 ? c : 0, right = s == width - 1 ? c : 0;
                    if (!source) {
                        memset(to, 0, 3 * c * sizeof(real));
                        continue;
                    }
                    memset(to, 0, left * sizeof(real));
                    memcpy(to + left, source + s * c + left - c, (3 * c - left - right) * sizeof(real));
                    memset(to + 3 * c - right, 0, right * sizeof(real));
                }
            }
}

void conv_row2im(const struct conv_shape *shape, size_t n, const real *rows, real *dx)
{
    size_t c = shape->cin, patch = CONV_TAPS * c, width = shape->w, image = shape->h * width * c;
    memset(dx, 0, n * image * sizeof(real));
    for (size_t i = 0; i < n; i++, dx += image)
        for (size_t r = 0; r < shape->h; r++, rows += width * patch)
            for (size_t a = 0; a < 3; a++) {
                if (!source_row(shape, dx, r, a))
                    continue;
                real *target = dx + (r + a - 1) * width * c;
                for (size_t s = 0; s < width; s++) {
                    const real *from = rows + s * patch + 3 * a * c;
                    size_t left = s == 0 ? c : 0, right = s == width - 1 ? c : 0;
                    real *to = target + s * c + left - c;
                    for (size_t j = 0; j < 3 * c - left - right; j++)
                        to[j] += from[left + j];
                }
            }
}

size_t conv_workspace(const struct conv_shape *shape)
{
    return images_at_once(shape) * shape->h * shape->w * CONV_TAPS * shape->cin;
}

void conv_forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, real *rows)
{
    size_t pixels = shape->h * shape->w, group = images_at_once(shape);
    for (size_t i = 0; i < n; i += group) {
        size_t here = n - i < group ? n - i : group;
        conv_im2row(shape, here, x + i * pixels * shape->cin, rows);
        gemm_multiply(GEMM_AB, here * pixels, shape->cout, CONV_TAPS * shape->cin, rows, w, 0, y + i * pixels * shape->cout);
    }
}

void conv_backward_weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw, real *rows)
{
    size_t pixels = shape->h * shape->w, group = images_at_once(shape);
    for (size_t i = 0; i < n; i += group) {
        size_t here = n - i < group ? n - i : group;
        conv_im2row(shape, here, x + i * pixels * shape->cin, rows);
        gemm_multiply(GEMM_ATB, CONV_TAPS * shape->cin, shape->cout, here * pixels, rows, dy + i * pixels * shape->cout, 1, dw);
    }
}

void conv_backward_data(const struct conv_shape *shape, size_t n, const real *dy, const real *w, real *dx, real *rows)
{
    size_t pixels = shape->h * shape->w, group = images_at_once(shape);
    for (size_t i = 0; i < n; i += group) {
        size_t here = n - i < group ? n - i : group;
        gemm_multiply(GEMM_ABT, here * pixels, CONV_TAPS * shape->cin, shape->cout, dy + i * pixels * shape->cout, w, 0, rows);
        conv_row2im(shape, here, rows, dx + i * pixels * shape->cin);
    }
}

void conv_weights_from_torch(size_t cin, size_t cout, const float *torch, real *w)
{
    for (size_t o = 0; o < cout; o++)
        for (size_t c = 0; c < cin; c++)
            for (size_t tap = 0; tap < CONV_TAPS; tap++)
                w[(tap * cin + c) * cout + o] = torch[(o * cin + c) * CONV_TAPS + tap];
}

void conv_weights_to_torch(size_t cin, size_t cout, const real *w, float *torch)
{
    for (size_t o = 0; o < cout; o++)
        for (size_t c = 0; c < cin; c++)
            for (size_t tap = 0; tap < CONV_TAPS; tap++)
                torch[(o * cin + c) * CONV_TAPS + tap] = (float)w[(tap * cin + c) * cout + o];
}

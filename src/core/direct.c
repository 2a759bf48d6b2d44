/* Direct convolution. Output channels lie in the lanes; a tile of TILE_ROWS pixels by VECTORS vectors stays in registers while the
 * sum runs over taps and input channels. A chain of at least CHAIN terms is summed from 0 and then added to what is there: short
 * chains lose fewer bits, and the same on every target.
 *
 * The gradient of the weights keeps PATCH_ROWS patch values by PATCH_VECTORS vectors in registers while it runs over pixels; for one
 * kernel row the three taps' patch values are neighbours in memory, and so there are always a multiple of 3. */
#include "bnsweep/core/direct.h"

#include "target_internal.h"

enum {
    CHAIN = 15,      /* terms of one chain over input channels */
    PIXEL_CHAIN = 64 /* terms of one chain over pixels, at least */
};

/* y[pixels][vectors] (pixels `cout` apart), one tile; `x` is the tile's first pixel's upper left neighbour. */
INLINE void forward_tile(size_t pixels, size_t vectors, const struct conv_shape *shape, const real *x, const real *w, real *y)
{
    size_t cin = shape->cin, cout = shape->cout, row = (shape->w + 2) * cin, chain = (CHAIN + cin - 1) / cin;
    vector sum[TILE_ROWS][VECTORS] = {0};
    for (size_t tap = 0, end = chain, here; tap < CONV_TAPS; tap += here) {
        here = 3 - tap % 3 < end - tap ? 3 - tap % 3 : end - tap; /* neighbours in memory, of one chain */
        tile_accumulate(pixels, vectors, here * cin, x + tap / 3 * row + tap % 3 * cin, cin, 1, w + tap * cin * cout, cout, sum);
        if (tap + here < end && tap + here < CONV_TAPS)
            continue;
        tile_flush(pixels, vectors, tap >= chain, sum, y, cout);
        end += chain;
    }
}

static void forward_row(const struct conv_shape *shape, const real *x, const real *w, real *y, struct ahead *ahead)
{
    for (size_t o = 0; o < shape->cout; o += COLUMNS) {
        size_t left = (shape->cout - o) / LANES, s = 0;
        if (left >= VECTORS)
            for (; s + TILE_ROWS <= shape->w; s += TILE_ROWS) {
                for (size_t p = 0; p < TILE_ROWS; p++) /* where the next row will be written */
                    for (size_t v = 0; v < VECTORS; v++)
                        __builtin_prefetch(y + (shape->w + s + p) * shape->cout + o + v * LANES, 1);
                ahead_step(ahead);
                forward_tile(TILE_ROWS, VECTORS, shape, x + s * shape->cin, w + o, y + s * shape->cout + o);
            }
        for (; s < shape->w; s++) {
            ahead_step(ahead);
            for (size_t v = 0; v < left && v < VECTORS; v++)
                forward_tile(1, 1, shape, x + s * shape->cin, w + o + v * LANES, y + s * shape->cout + o + v * LANES);
        }
    }
}

static void forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, struct ahead *ahead)
{
    ahead_begin(ahead, n * shape->h * (shape->w / TILE_ROWS + shape->w % TILE_ROWS) * ((shape->cout + COLUMNS - 1) / COLUMNS));
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < shape->h; r++)
            forward_row(shape, x + (i * (shape->h + 2) + r) * (shape->w + 2) * shape->cin, w,
                        y + (i * shape->h + r) * shape->w * shape->cout, ahead);
}

/* dw[rows][vectors] (rows `cout` apart) += the sum over one image of patch value times dy; `x` is the image at the first patch value
 * of its first pixel, `dy` at its first pixel. */
INLINE void weights_tile(size_t rows, size_t vectors, const struct conv_shape *shape, const real *x, const real *dy, real *dw,
                         struct ahead *ahead)
{
    size_t cin = shape->cin, cout = shape->cout, width = shape->w + 2, chain = 0;
    vector sum[PATCH_ROWS][VECTORS] = {0};
    for (size_t r = 0; r < shape->h; r++) {
        ahead_step(ahead);
        tile_accumulate(rows, vectors, shape->w, x + r * width * cin, 1, cin, dy + r * width * cout, cout, sum);
        chain += shape->w;
        if (chain < PIXEL_CHAIN && r + 1 < shape->h)
            continue;
        chain = 0;
        tile_flush(rows, vectors, 1, sum, dw, cout);
    }
}

/* One image and one kernel row: dw[3 cin][cout]. */
static void weights_row(const struct conv_shape *shape, const real *x, const real *dy, real *dw, struct ahead *ahead)
{
    size_t cout = shape->cout, patch = 3 * shape->cin;
    for (size_t o = 0; o < cout; o += PATCH_VECTORS * LANES) {
        size_t left = (cout - o) / LANES, k = 0;
        if (left >= PATCH_VECTORS) {
            for (; k + PATCH_ROWS <= patch; k += PATCH_ROWS)
                weights_tile(PATCH_ROWS, PATCH_VECTORS, shape, x + k, dy + o, dw + k * cout + o, ahead);
            for (; k < patch; k += 3)
                weights_tile(3, PATCH_VECTORS, shape, x + k, dy + o, dw + k * cout + o, ahead);
        }
        for (; k < patch; k += 3)
            for (size_t v = 0; v < left; v++)
                weights_tile(3, 1, shape, x + k, dy + o + v * LANES, dw + k * cout + o + v * LANES, ahead);
    }
}

static void weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw, struct ahead *ahead)
{
    size_t width = shape->w + 2, tiles = (3 * shape->cin + PATCH_ROWS - 1) / PATCH_ROWS * (shape->cout / LANES / PATCH_VECTORS);
    ahead_begin(ahead, n * 3 * tiles * shape->h);
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < 3; a++)
            weights_row(shape, x + (i * (shape->h + 2) + a) * width * shape->cin,
                        dy + ((i * (shape->h + 2) + 1) * width + 1) * shape->cout, dw + a * 3 * shape->cin * shape->cout, ahead);
}

const struct direct TARGET_NAME(direct_) = {.forward = forward, .weights = weights};

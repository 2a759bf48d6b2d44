/* Direct convolution. Output channels lie in the lanes; a tile of TILE_ROWS pixels by VECTORS vectors stays in registers while the
 * sum runs over taps and input channels. A chain of at least CHAIN terms is summed from 0 and then added to what is there: short
 * chains lose fewer bits, and the same on every target.
 *
 * The gradient of the weights keeps PATCH_ROWS patch values by PATCH_VECTORS vectors in registers while it runs over pixels; for one
 * kernel row the three taps' patch values are neighbours in memory, and so there are always a multiple of 3. */
#include "bnsweep/core/direct.h"

#include "target_internal.h"

enum {
    CHAIN = 15,       /* terms of one chain over input channels, at least */
    PIXEL_CHAIN = 64, /* terms of one chain over pixels, at least */
    COLOURS = 3,      /* input channels of most first convolutions: where they are a constant, small tiles are the faster ones */
    COLOUR_ROWS = TILE_ROWS < 4 ? TILE_ROWS : 4
};

/* A tile's sum += `count` taps from `first` on, neighbours in a kernel row; `x` is the tile's first pixel's upper left neighbour. */
INLINE void add_taps(size_t pixels, size_t vectors, size_t cin, const struct conv_shape *shape, const real *x, const real *w,
                     size_t first, size_t count, vector (*sum)[VECTORS])
{
    size_t row = (shape->w + 2) * cin;
    tile_accumulate(pixels, vectors, count * cin, x + first / 3 * row + first % 3 * cin, cin, 1, w + first * cin * shape->cout,
                    shape->cout, sum);
}

/* y[pixels][vectors] (pixels `cout` apart), one tile. */
INLINE void forward_tile(size_t pixels, size_t vectors, size_t cin, const struct conv_shape *shape, const real *x, const real *w, real *y)
{
    size_t chain = (CHAIN + cin - 1) / cin; /* taps */
    vector sum[TILE_ROWS][VECTORS] = {0};
    for (size_t tap = 0, end = chain, here; tap < CONV_TAPS; tap += here) {
        here = 3 - tap % 3 < end - tap ? 3 - tap % 3 : end - tap;
        add_taps(pixels, vectors, cin, shape, x, w, tap, here, sum);
        if (tap + here < end && tap + here < CONV_TAPS)
            continue;
        tile_flush(pixels, vectors, tap >= chain, sum, y, shape->cout);
        end += chain;
    }
}

/* The same for COLOURS input channels, whose chains are five taps and four. */
INLINE void forward_colours(size_t pixels, size_t vectors, const struct conv_shape *shape, const real *x, const real *w, real *y)
{
    _Static_assert(4 * COLOURS < CHAIN && CHAIN <= 5 * COLOURS, "the chains of forward_tile");
    vector sum[TILE_ROWS][VECTORS] = {0};
    add_taps(pixels, vectors, COLOURS, shape, x, w, 0, 3, sum);
    add_taps(pixels, vectors, COLOURS, shape, x, w, 3, 2, sum);
    tile_flush(pixels, vectors, 0, sum, y, shape->cout);
    add_taps(pixels, vectors, COLOURS, shape, x, w, 5, 1, sum);
    add_taps(pixels, vectors, COLOURS, shape, x, w, 6, 3, sum);
    tile_flush(pixels, vectors, 1, sum, y, shape->cout);
}

/* One row of pixels in tiles of `rows`; cin is shape->cin. */
INLINE void forward_row(size_t rows, size_t cin, const struct conv_shape *shape, const real *x, const real *w, real *y, struct ahead *ahead)
{
    for (size_t o = 0; o < shape->cout; o += COLUMNS) {
        size_t left = (shape->cout - o) / LANES, s = 0;
        for (; left >= VECTORS && s + rows <= shape->w; s += rows) {
            for (size_t p = 0; p < rows; p++) /* where the next row will be written */
                for (size_t v = 0; v < VECTORS; v++)
                    __builtin_prefetch(y + (shape->w + s + p) * shape->cout + o + v * LANES, 1);
            ahead_step(ahead);
            (cin == COLOURS ? forward_colours(rows, VECTORS, shape, x + s * cin, w + o, y + s * shape->cout + o)
                            : forward_tile(rows, VECTORS, cin, shape, x + s * cin, w + o, y + s * shape->cout + o));
        }
        for (; s < shape->w; s++) {
            ahead_step(ahead);
            for (size_t v = 0; v < left && v < VECTORS; v++)
                forward_tile(1, 1, cin, shape, x + s * cin, w + o + v * LANES, y + s * shape->cout + o + v * LANES);
        }
    }
}

static void forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, struct ahead *ahead)
{
    ahead_begin(ahead, n * shape->h * (shape->w / TILE_ROWS + shape->w % TILE_ROWS) * ((shape->cout + COLUMNS - 1) / COLUMNS));
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < shape->h; r++) {
            const real *from = x + (i * (shape->h + 2) + r) * (shape->w + 2) * shape->cin;
            real *to = y + (i * shape->h + r) * shape->w * shape->cout;
            if (shape->cin == COLOURS)
                forward_row(COLOUR_ROWS, COLOURS, shape, from, w, to, ahead);
            else
                forward_row(TILE_ROWS, shape->cin, shape, from, w, to, ahead);
        }
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

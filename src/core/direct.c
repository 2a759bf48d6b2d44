/* The direct engine: 3x3 convolutions without a patch matrix, for channels in multiples of 16. The reference engine does the rest.
 *
 * This one source is compiled for each instruction set (DIRECT_TARGET); output channels lie in the lanes. A tile of PIXELS pixels
 * by VECTORS vectors stays in registers while the sum runs over taps and input channels; one broadcast value meets VECTORS vectors
 * of weights. The order of every sum is the source's and not the tile's: a chain of at least CHAIN terms is summed from 0 and then
 * added to what is there. So all targets with fused multiply-add (avx512, avx2) give the same bits; short chains lose fewer of them.
 *
 * The image is first copied into a border of zeros. The gradient of the data is the same convolution with the weights turned round and
 * transposed. The gradient of the weights keeps a tile of ROWS patch values by VECTORS vectors in registers while it runs over pixels;
 * for one kernel row the three taps' patch values are neighbours in memory. */
#include "bnsweep/core/direct.h"

#include <string.h>

#ifndef DIRECT_TARGET
#define DIRECT_TARGET baseline
#define VECTOR_BYTES 16
#define VECTORS 4
#define PIXELS 2
#define ROWS 2
#endif

#define JOIN_(a, b) direct_##a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(what) JOIN(DIRECT_TARGET, what)

typedef real vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

enum {
    LANES = VECTOR_BYTES / sizeof(real),
    BLOCK = VECTORS * LANES, /* output channels of a tile */
    STEP = 16,               /* channels come in multiples of this */
    CHAIN = 48,              /* terms of one chain over input channels */
    PIXEL_CHAIN = 8         /* terms of one chain over pixels, at least */
};

/* x[h][w][c] into padded[h + 2][w + 2][c], whose border is 0 already. */
static void pad(size_t h, size_t w, size_t c, const real *x, real *padded)
{
    for (size_t r = 0; r < h; r++)
        memcpy(padded + ((r + 1) * (w + 2) + 1) * c, x + r * w * c, w * c * sizeof(real));
}

/* y[pixels][vectors] (pixels `cout` apart), one tile; `x` is the padded image at the tile's first pixel's upper left neighbour. */
static inline __attribute__((always_inline)) void forward_tile(size_t pixels, size_t vectors, size_t cin, size_t cout, size_t row,
                                                               const real *x, const real *w, real *y)
{
    vector sum[PIXELS][VECTORS] = {0};
    size_t chain = 0;
    for (size_t p = 0; p < pixels; p++)
        for (size_t v = 0; v < vectors; v++)
            *(vector *)(y + p * cout + v * LANES) = sum[p][v];
    for (size_t tap = 0; tap < CONV_TAPS; tap++) {
        const real *from = x + tap / 3 * row + tap % 3 * cin, *weights = w + tap * cin * cout;
        for (size_t c = 0; c < cin; c++)
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++) {
                vector weight = *(const vector *)(weights + c * cout + v * LANES);
#pragma GCC unroll 8
                for (size_t p = 0; p < pixels; p++)
                    sum[p][v] += from[p * cin + c] * weight;
            }
        chain += cin;
        if (chain < CHAIN && tap + 1 < CONV_TAPS)
            continue;
        chain = 0;
#pragma GCC unroll 8
        for (size_t p = 0; p < pixels; p++)
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++) {
                *(vector *)(y + p * cout + v * LANES) += sum[p][v];
                sum[p][v] = (vector){0};
            }
    }
}

static void forward_row(size_t vectors, size_t width, size_t cin, size_t cout, const real *x, const real *w, real *y)
{
    size_t row = (width + 2) * cin, s = 0;
    if (vectors == VECTORS)
        for (; s + PIXELS <= width; s += PIXELS)
            forward_tile(PIXELS, VECTORS, cin, cout, row, x + s * cin, w, y + s * cout);
    for (; s < width; s++)
        for (size_t v = 0; v < vectors; v++)
            forward_tile(1, 1, cin, cout, row, x + s * cin, w + v * LANES, y + s * cout + v * LANES);
}

/* y[h][w][cout] = the convolution of one padded image. */
static void forward_image(size_t h, size_t width, size_t cin, size_t cout, const real *padded, const real *w, real *y)
{
    for (size_t o = 0; o < cout; o += BLOCK) {
        size_t vectors = cout - o < BLOCK ? (cout - o) / LANES : VECTORS;
        for (size_t r = 0; r < h; r++)
            forward_row(vectors, width, cin, cout, padded + r * (width + 2) * cin, w + o, y + r * width * cout + o);
    }
}

static void forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, real *workspace)
{
    size_t pixels = shape->h * shape->w, padded = (shape->h + 2) * (shape->w + 2) * shape->cin;
    if (shape->cout % STEP) {
        conv_reference.forward(shape, n, x, w, y, workspace);
        return;
    }
    memset(workspace, 0, padded * sizeof(real));
    for (size_t i = 0; i < n; i++) {
        pad(shape->h, shape->w, shape->cin, x + i * pixels * shape->cin, workspace);
        forward_image(shape->h, shape->w, shape->cin, shape->cout, workspace, w, y + i * pixels * shape->cout);
    }
}

static void backward_data(const struct conv_shape *shape, size_t n, const real *dy, const real *w, real *dx, real *workspace)
{
    size_t cin = shape->cin, cout = shape->cout, pixels = shape->h * shape->w;
    real *turned = workspace + (shape->h + 2) * (shape->w + 2) * cout;
    if (cin % STEP) {
        conv_reference.backward_data(shape, n, dy, w, dx, workspace);
        return;
    }
    memset(workspace, 0, (shape->h + 2) * (shape->w + 2) * cout * sizeof(real));
    for (size_t tap = 0; tap < CONV_TAPS; tap++)
        for (size_t c = 0; c < cin; c++)
            for (size_t o = 0; o < cout; o++)
                turned[((CONV_TAPS - 1 - tap) * cout + o) * cin + c] = w[(tap * cin + c) * cout + o];
    for (size_t i = 0; i < n; i++) {
        pad(shape->h, shape->w, cout, dy + i * pixels * cout, workspace);
        forward_image(shape->h, shape->w, cout, cin, workspace, turned, dx + i * pixels * cin);
    }
}

/* dw[rows][vectors] (rows `cout` apart) += the sum over one image of patch value times dy; `x` is the padded image at the first patch
 * value of its first pixel. */
static inline __attribute__((always_inline)) void weights_tile(size_t rows, size_t vectors, const struct conv_shape *shape,
                                                               const real *x, const real *dy, real *dw)
{
    size_t cin = shape->cin, cout = shape->cout, chain = 0;
    vector sum[ROWS][VECTORS] = {0};
    for (size_t r = 0; r < shape->h; r++) {
        const real *from = x + r * (shape->w + 2) * cin, *gradient = dy + r * shape->w * cout;
        for (size_t s = 0; s < shape->w; s++)
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++) {
                vector d = *(const vector *)(gradient + s * cout + v * LANES);
#pragma GCC unroll 8
                for (size_t k = 0; k < rows; k++)
                    sum[k][v] += from[s * cin + k] * d;
            }
        chain += shape->w;
        if (chain < PIXEL_CHAIN && r + 1 < shape->h)
            continue;
        chain = 0;
#pragma GCC unroll 8
        for (size_t k = 0; k < rows; k++)
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++) {
                *(vector *)(dw + k * cout + v * LANES) += sum[k][v];
                sum[k][v] = (vector){0};
            }
    }
}

static void weights_image(const struct conv_shape *shape, const real *padded, const real *dy, real *dw)
{
    size_t cin = shape->cin, cout = shape->cout, patch = 3 * cin;
    for (size_t a = 0; a < 3; a++)
        for (size_t o = 0; o < cout; o += BLOCK) {
            size_t vectors = cout - o < BLOCK ? (cout - o) / LANES : VECTORS, k = 0;
            const real *x = padded + a * (shape->w + 2) * cin;
            real *to = dw + a * patch * cout + o;
            if (vectors == VECTORS)
                for (; k + ROWS <= patch; k += ROWS)
                    weights_tile(ROWS, VECTORS, shape, x + k, dy + o, to + k * cout);
            for (; k < patch; k++)
                for (size_t v = 0; v < vectors; v++)
                    weights_tile(1, 1, shape, x + k, dy + o + v * LANES, to + k * cout + v * LANES);
        }
}

static void backward_weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw, real *workspace)
{
    size_t pixels = shape->h * shape->w, padded = (shape->h + 2) * (shape->w + 2) * shape->cin;
    if (shape->cout % STEP) {
        conv_reference.backward_weights(shape, n, x, dy, dw, workspace);
        return;
    }
    memset(workspace, 0, padded * sizeof(real));
    for (size_t i = 0; i < n; i++) {
        pad(shape->h, shape->w, shape->cin, x + i * pixels * shape->cin, workspace);
        weights_image(shape, workspace, dy + i * pixels * shape->cout, dw);
    }
}

static size_t workspace_size(const struct conv_shape *shape)
{
    size_t widest = shape->cin > shape->cout ? shape->cin : shape->cout, reference = conv_reference.workspace(shape);
    size_t direct = (shape->h + 2) * (shape->w + 2) * widest + CONV_TAPS * shape->cin * shape->cout;
    return direct > reference ? direct : reference;
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const struct conv_engine NAME(engine) = {
    .name = "direct-" TEXT(DIRECT_TARGET),
    .workspace = workspace_size,
    .forward = forward,
    .backward_weights = backward_weights,
    .backward_data = backward_data,
};

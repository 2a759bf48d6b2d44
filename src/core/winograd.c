/* Winograd's F(2x2, 3x3). An output tile of 2x2 pixels comes from 4x4 input pixels d:  y = A^T [(G g G^T) (B^T d B)] A,  the bracket a
 * product for each of the 16 frequencies, which over input channels and tiles is 16 matrix products. Channels lie in the lanes.
 *
 * Forward, GROUP tiles at a time: their transformed input v[16][GROUP][cin] stays in the level-1 cache; for each COLUMNS output channels
 * the 16 products go to m[16][GROUP][COLUMNS], also there, and are transformed back. The weights u come from the level-2 cache. The
 * gradient of the data is the same with the weights turned round and transposed.
 * The gradient of the weights stays in the transformed domain:  du[f] = sum over tiles of v[f]^T (A dy A^T)[f],  WINOGRAD_GROUP tiles at
 * a time, so that one frequency's operands fit the level-1 cache; a tile of du is in registers while the sum runs over them.
 * A frequency's part begins at no power of two, or all sixteen would fall into the same sets of the cache. */
#include "bnsweep/core/winograd.h"

#include "target_internal.h"

#include <string.h>

enum {
    GROUP = 8,
    CHAIN = 64, /* terms of one chain over input channels */
    PAD = 16
};

/* to[i][j] = B^T d B, the 4x4 input pixels d `row` and `pixel` apart; frequencies `stride` apart. */
INLINE void transform_input(const real *d, size_t row, size_t pixel, real *to, size_t stride)
{
    vector t[4][4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; j++) {
        vector d0 = load(d + j * pixel), d1 = load(d + row + j * pixel), d2 = load(d + 2 * row + j * pixel),
               d3 = load(d + 3 * row + j * pixel);
        t[0][j] = d0 - d2;
        t[1][j] = d1 + d2;
        t[2][j] = d2 - d1;
        t[3][j] = d1 - d3;
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        store(to + (4 * i + 0) * stride, t[i][0] - t[i][2]);
        store(to + (4 * i + 1) * stride, t[i][1] + t[i][2]);
        store(to + (4 * i + 2) * stride, t[i][2] - t[i][1]);
        store(to + (4 * i + 3) * stride, t[i][1] - t[i][3]);
    }
}

/* y, 2x2 pixels `row` and `pixel` apart, = A^T m A; frequencies `stride` apart. */
INLINE void transform_output(const real *m, size_t stride, real *y, size_t row, size_t pixel)
{
    vector t[2][4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; j++) {
        vector m0 = load(m + j * stride), m1 = load(m + (4 + j) * stride), m2 = load(m + (8 + j) * stride),
               m3 = load(m + (12 + j) * stride);
        t[0][j] = (m0 + m1) + m2;
        t[1][j] = (m1 - m2) - m3;
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        store(y + i * row, (t[i][0] + t[i][1]) + t[i][2]);
        store(y + i * row + pixel, (t[i][1] - t[i][2]) - t[i][3]);
    }
}

/* to = A dy A^T, the transpose of transform_output. */
INLINE void transform_gradient(const real *dy, size_t row, size_t pixel, real *to, size_t stride)
{
    vector t[4][2];
#pragma GCC unroll 2
    for (size_t j = 0; j < 2; j++) {
        vector d0 = load(dy + j * pixel), d1 = load(dy + row + j * pixel);
        t[0][j] = d0;
        t[1][j] = d0 + d1;
        t[2][j] = d0 - d1;
        t[3][j] = -d1;
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        store(to + (4 * i + 0) * stride, t[i][0]);
        store(to + (4 * i + 1) * stride, t[i][0] + t[i][1]);
        store(to + (4 * i + 2) * stride, t[i][0] - t[i][1]);
        store(to + (4 * i + 3) * stride, -t[i][1]);
    }
}

static void transform(size_t cin, size_t cout, const real *w, real *u)
{
    size_t plane = cin * cout;
    for (size_t at = 0; at < plane; at += LANES) {
        vector t[4][3];
        for (size_t j = 0; j < 3; j++) {
            vector g0 = load(w + j * plane + at), g1 = load(w + (3 + j) * plane + at), g2 = load(w + (6 + j) * plane + at);
            t[0][j] = g0;
            t[1][j] = (real)0.5 * ((g0 + g2) + g1);
            t[2][j] = (real)0.5 * ((g0 + g2) - g1);
            t[3][j] = g2;
        }
        for (size_t i = 0; i < 4; i++) {
            store(u + (4 * i + 0) * plane + at, t[i][0]);
            store(u + (4 * i + 1) * plane + at, (real)0.5 * ((t[i][0] + t[i][2]) + t[i][1]));
            store(u + (4 * i + 2) * plane + at, (real)0.5 * ((t[i][0] + t[i][2]) - t[i][1]));
            store(u + (4 * i + 3) * plane + at, t[i][2]);
        }
    }
}

static void gradient(size_t cin, size_t cout, const real *du, real *dw)
{
    size_t plane = cin * cout;
    for (size_t at = 0; at < plane; at += LANES) {
        vector t[3][4];
        for (size_t j = 0; j < 4; j++) {
            vector u0 = load(du + j * plane + at), u1 = load(du + (4 + j) * plane + at), u2 = load(du + (8 + j) * plane + at),
                   u3 = load(du + (12 + j) * plane + at);
            t[0][j] = u0 + (real)0.5 * (u1 + u2);
            t[1][j] = (real)0.5 * (u1 - u2);
            t[2][j] = (real)0.5 * (u1 + u2) + u3;
        }
        for (size_t i = 0; i < 3; i++) {
            store(dw + (3 * i + 0) * plane + at, t[i][0] + (real)0.5 * (t[i][1] + t[i][2]));
            store(dw + (3 * i + 1) * plane + at, (real)0.5 * (t[i][1] - t[i][2]));
            store(dw + (3 * i + 2) * plane + at, (real)0.5 * (t[i][1] + t[i][2]) + t[i][3]);
        }
    }
}

/* Where output tile `tile` (counted over images, row by row) has its first pixel. */
struct place {
    size_t image, r, s;
};

INLINE struct place place_of(const struct conv_shape *shape, size_t tile)
{
    size_t across = shape->w / 2, tiles = shape->h / 2 * across, in_image = tile % tiles;
    return (struct place){tile / tiles, 2 * (in_image / across), 2 * (in_image % across)};
}

/* v[16][.][cin] of `count` tiles from `first` on; a tile's channels `cin` apart, frequencies `stride`. */
static void inputs(const struct conv_shape *shape, size_t first, size_t count, const real *x, real *v, size_t stride)
{
    size_t cin = shape->cin, row = (shape->w + 2) * cin;
    for (size_t t = 0; t < count; t++) {
        struct place p = place_of(shape, first + t);
        const real *d = x + (p.image * (shape->h + 2) + p.r) * row + p.s * cin;
        for (size_t c = 0; c < cin; c += LANES)
            transform_input(d + c, row, cin, v + t * cin + c, stride);
    }
}

/* The 16 products of GROUP tiles with `vectors` vectors of output channels. */
INLINE void products(size_t vectors, const struct conv_shape *shape, const real *v, size_t v_stride, const real *u, real *m, size_t m_stride)
{
    size_t cin = shape->cin, cout = shape->cout;
    for (size_t f = 0; f < WINOGRAD_FREQUENCIES; f++)
        for (size_t t = 0; t < GROUP; t += TILE_ROWS) {
            vector sum[TILE_ROWS][VECTORS] = {0};
            for (size_t c = 0; c < cin; c += CHAIN) {
                tile_accumulate(TILE_ROWS, vectors, cin - c < CHAIN ? cin - c : CHAIN, v + f * v_stride + t * cin + c, cin, 1,
                                u + (f * cin + c) * cout, cout, sum);
                tile_flush(TILE_ROWS, vectors, c > 0, sum, m + f * m_stride + t * COLUMNS, COLUMNS);
            }
        }
}

/* Output channels o .. o + left * LANES, at most COLUMNS, of `count` tiles. */
static void outputs(const struct conv_shape *shape, size_t first, size_t count, size_t o, const real *m, size_t stride, real *y)
{
    size_t cout = shape->cout, left = (cout - o) / LANES;
    for (size_t t = 0; t < count; t++) {
        struct place p = place_of(shape, first + t);
        real *to = y + ((p.image * shape->h + p.r) * shape->w + p.s) * cout + o;
        for (size_t k = 0; k < VECTORS && k < left; k++)
            transform_output(m + t * COLUMNS + k * LANES, stride, to + k * LANES, shape->w * cout, cout);
    }
}

static void forward(const struct conv_shape *shape, size_t n, const real *x, const real *u, real *y, real *workspace)
{
    size_t tiles = n * (shape->h / 2) * (shape->w / 2), v_stride = GROUP * shape->cin + PAD, m_stride = GROUP * COLUMNS + PAD;
    real *v = workspace, *m = workspace + WINOGRAD_FREQUENCIES * v_stride;
    for (size_t first = 0; first < tiles; first += GROUP) {
        size_t count = tiles - first < GROUP ? tiles - first : GROUP;
        if (count < GROUP)
            memset(v, 0, WINOGRAD_FREQUENCIES * v_stride * sizeof(real));
        inputs(shape, first, count, x, v, v_stride);
        for (size_t o = 0; o < shape->cout; o += COLUMNS) {
            if (shape->cout - o >= COLUMNS)
                products(VECTORS, shape, v, v_stride, u + o, m, m_stride);
            else
                for (size_t k = 0; k < (shape->cout - o) / LANES; k++)
                    products(1, shape, v, v_stride, u + o + k * LANES, m + k * LANES, m_stride);
            outputs(shape, first, count, o, m, m_stride, y);
        }
    }
}

/* du[cin][cout] += v[count][cin]^T d[count][cout], one frequency. */
static void accumulate(const struct conv_shape *shape, size_t count, const real *v, const real *d, real *du)
{
    size_t cin = shape->cin, cout = shape->cout;
    for (size_t o = 0; o < cout; o += COLUMNS)
        for (size_t c = 0; c < cin; c += TILE_ROWS) {
            vector sum[TILE_ROWS][VECTORS] = {0};
            real *to = du + c * cout + o;
            if (cout - o >= COLUMNS) {
                tile_accumulate(TILE_ROWS, VECTORS, count, v + c, 1, cin, d + o, cout, sum);
                tile_flush(TILE_ROWS, VECTORS, 1, sum, to, cout);
                continue;
            }
            for (size_t k = 0; k < (cout - o) / LANES; k++) {
                tile_accumulate(TILE_ROWS, 1, count, v + c, 1, cin, d + o + k * LANES, cout, sum);
                tile_flush(TILE_ROWS, 1, 1, sum, to + k * LANES, cout);
            }
        }
}

static void weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *du, real *workspace)
{
    size_t cin = shape->cin, cout = shape->cout, width = shape->w + 2, tiles = n * (shape->h / 2) * (shape->w / 2);
    size_t v_stride = WINOGRAD_GROUP * cin + PAD, d_stride = WINOGRAD_GROUP * cout + PAD;
    real *v = workspace, *d = workspace + WINOGRAD_FREQUENCIES * v_stride;
    for (size_t first = 0; first < tiles; first += WINOGRAD_GROUP) {
        size_t count = tiles - first < WINOGRAD_GROUP ? tiles - first : WINOGRAD_GROUP;
        inputs(shape, first, count, x, v, v_stride);
        for (size_t t = 0; t < count; t++) {
            struct place p = place_of(shape, first + t);
            const real *from = dy + ((p.image * (shape->h + 2) + p.r + 1) * width + p.s + 1) * cout;
            for (size_t o = 0; o < cout; o += LANES)
                transform_gradient(from + o, width * cout, cout, d + t * cout + o, d_stride);
        }
        for (size_t f = 0; f < WINOGRAD_FREQUENCIES; f++)
            accumulate(shape, count, v + f * v_stride, d + f * d_stride, du + f * cin * cout);
    }
}

const struct winograd TARGET_NAME(winograd_) = {transform, forward, weights, gradient};

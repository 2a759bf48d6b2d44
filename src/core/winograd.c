/* Winograd's F(2x2, 3x3). An output tile of 2x2 pixels comes from 4x4 input pixels d:  y = A^T [(G g G^T) (B^T d B)] A,  the bracket a
 * product for each of the 16 frequencies, which over input channels and tiles is 16 matrix products. Channels lie in the lanes.
 *
 * Forward, GROUP tiles at a time: their transformed input v[cin / LANES][16][GROUP][LANES] stays in the level-1 cache; for each COLUMNS
 * output channels the 16 products go to m[16][GROUP][COLUMNS], also there, and are transformed back. The weights come from the level-2
 * cache, in the order in which they are read: u[cout / COLUMNS][16][cin][COLUMNS]. The gradient of the data is the same with the weights
 * turned round and transposed.
 * The gradient of the weights stays in the transformed domain:  du[f] = sum over tiles of v[f]^T (A dy A^T)[f],  WINOGRAD_GROUP tiles at
 * a time, so that one frequency's operands fit the level-1 cache; a tile of du is in registers while the sum runs over them.
 * Every distance but that of du's rows is a constant, which saves the registers that would hold it. Where a frequency's part would
 * begin at a power of two it is padded, or all sixteen would fall into the same sets of the cache. */
#include "bnsweep/core/winograd.h"

#include "target_internal.h"

#include <string.h>

enum {
    GROUP = 8,
    CHAIN = 32, /* terms of one chain over input channels */
    PAD = 16,
    V_FREQUENCY = GROUP * LANES,
    V_BLOCK = WINOGRAD_FREQUENCIES * V_FREQUENCY,
    M_FREQUENCY = GROUP * COLUMNS + PAD,
    /* of the gradient of the weights */
    WV_FREQUENCY = WINOGRAD_GROUP * LANES + PAD,
    WV_BLOCK = WINOGRAD_FREQUENCIES * WV_FREQUENCY,
    WD_FREQUENCY = WINOGRAD_GROUP * COLUMNS + PAD,
    WD_BLOCK = WINOGRAD_FREQUENCIES * WD_FREQUENCY
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
        t[0][j] = m0 + (m1 + m2);
        t[1][j] = (m1 - m2) - m3;
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        store(y + i * row, t[i][0] + (t[i][1] + t[i][2]));
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

/* Columns of the block that begins at output channel o. */
INLINE size_t columns_at(size_t cout, size_t o)
{
    return cout - o < COLUMNS ? cout - o : COLUMNS;
}

/* LANES weights from w[3][3], `plane` apart, to u[16], `step` apart. */
INLINE void transform_weights(const real *w, size_t plane, real *u, size_t step)
{
    vector t[4][3];
    for (size_t j = 0; j < 3; j++) {
        vector g0 = load(w + j * plane), g1 = load(w + (3 + j) * plane), g2 = load(w + (6 + j) * plane);
        t[0][j] = g0;
        t[1][j] = (real)0.5 * ((g0 + g2) + g1);
        t[2][j] = (real)0.5 * ((g0 + g2) - g1);
        t[3][j] = g2;
    }
    for (size_t i = 0; i < 4; i++) {
        store(u + (4 * i + 0) * step, t[i][0]);
        store(u + (4 * i + 1) * step, (real)0.5 * ((t[i][0] + t[i][2]) + t[i][1]));
        store(u + (4 * i + 2) * step, (real)0.5 * ((t[i][0] + t[i][2]) - t[i][1]));
        store(u + (4 * i + 3) * step, t[i][2]);
    }
}

static void transform(size_t cin, size_t cout, const real *w, real *u)
{
    for (size_t o = 0; o < cout; o += COLUMNS) {
        size_t columns = columns_at(cout, o);
        for (size_t c = 0; c < cin; c++)
            for (size_t k = 0; k < columns; k += LANES)
                transform_weights(w + c * cout + o + k, cin * cout, u + WINOGRAD_FREQUENCIES * cin * o + c * columns + k, cin * columns);
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

/* Where an output tile, counted over images row by row, has its first pixel. */
struct place {
    size_t image, r, s;
};

INLINE struct place place_of(const struct conv_shape *shape, size_t tile)
{
    size_t across = shape->w / 2, tiles = shape->h / 2 * across, in_image = tile % tiles;
    return (struct place){tile / tiles, 2 * (in_image / across), 2 * (in_image % across)};
}

INLINE struct place place_next(const struct conv_shape *shape, struct place p)
{
    p.s += 2;
    if (p.s == shape->w) {
        p.s = 0;
        p.r += 2;
    }
    if (p.r == shape->h) {
        p.r = 0;
        p.image++;
    }
    return p;
}

/* A block of LANES channels of v for `count` tiles from `p` on; x is at the first of the channels. */
INLINE void inputs(const struct conv_shape *shape, struct place p, size_t count, const real *x, real *v, size_t stride)
{
    size_t cin = shape->cin, row = (shape->w + 2) * cin;
    for (size_t t = 0; t < count; t++, p = place_next(shape, p))
        transform_input(x + (p.image * (shape->h + 2) + p.r) * row + p.s * cin, row, cin, v + t * LANES, stride);
}

/* m = the 16 products of GROUP tiles with `vectors` vectors of output channels, `columns` of which there are in u. */
INLINE void products(size_t vectors, size_t columns, size_t cin, const real *v, const real *u, real *m, struct ahead *ahead)
{
    for (size_t f = 0; f < WINOGRAD_FREQUENCIES; f++)
        for (size_t t = 0; t < GROUP; t += TILE_ROWS) {
            const real *rows = v + f * V_FREQUENCY + t * LANES, *weights = u + f * cin * columns;
            vector sum[TILE_ROWS][VECTORS] = {0};
            ahead_step(ahead);
            for (size_t c = 0; c < cin; c += LANES) {
                tile_accumulate(TILE_ROWS, vectors, LANES, rows + c / LANES * V_BLOCK, LANES, 1, weights + c * columns, columns, sum);
                if ((c + LANES) % CHAIN == 0 || c + LANES == cin)
                    tile_flush(TILE_ROWS, vectors, c >= CHAIN, sum, m + f * M_FREQUENCY + t * COLUMNS, COLUMNS);
            }
        }
}

/* y of `columns` output channels and `count` tiles from `p` on; y is at the first of the channels. */
INLINE void outputs(const struct conv_shape *shape, struct place p, size_t count, size_t columns, const real *m, real *y)
{
    size_t cout = shape->cout;
    for (size_t t = 0; t < count; t++, p = place_next(shape, p))
        for (size_t k = 0; k < columns; k += LANES)
            transform_output(m + t * COLUMNS + k, M_FREQUENCY, y + ((p.image * shape->h + p.r) * shape->w + p.s) * cout + k,
                             shape->w * cout, cout);
}

static void forward(const struct conv_shape *shape, size_t n, const real *x, const real *u, real *y, real *workspace,
                    struct ahead *ahead)
{
    size_t tiles = n * (shape->h / 2) * (shape->w / 2), cin = shape->cin;
    real *v = workspace, *m = workspace + cin / LANES * V_BLOCK;
    ahead_begin(ahead, (tiles + GROUP - 1) / GROUP * (shape->cout / LANES) * (WINOGRAD_FREQUENCIES * GROUP / TILE_ROWS) / VECTORS);
    for (size_t first = 0; first < tiles; first += GROUP) {
        size_t count = tiles - first < GROUP ? tiles - first : GROUP;
        struct place p = place_of(shape, first);
        if (count < GROUP)
            memset(v, 0, cin / LANES * V_BLOCK * sizeof(real));
        for (size_t c = 0; c < cin; c += LANES)
            inputs(shape, p, count, x + c, v + c / LANES * V_BLOCK, V_FREQUENCY);
        for (size_t o = 0; o < shape->cout; o += COLUMNS) {
            size_t columns = columns_at(shape->cout, o);
            const real *weights = u + WINOGRAD_FREQUENCIES * cin * o;
            if (columns == COLUMNS)
                products(VECTORS, COLUMNS, cin, v, weights, m, ahead);
            else
                for (size_t k = 0; k < columns; k += LANES)
                    products(1, columns, cin, v, weights + k, m + k, ahead);
            outputs(shape, p, count, columns, m, y + o);
        }
    }
}

/* du[cin][cout] += v[count][cin]^T d[count][cout], one frequency and COLUMNS or fewer output channels; du is at the first of them. */
INLINE void accumulate(const struct conv_shape *shape, size_t count, size_t columns, const real *v, const real *d, real *du,
                       struct ahead *ahead)
{
    for (size_t c = 0; c < shape->cin; c += TILE_ROWS) {
        const real *rows = v + c / LANES * WV_BLOCK + c % LANES;
        vector sum[TILE_ROWS][VECTORS] = {0};
        ahead_step(ahead);
        if (columns == COLUMNS) {
            tile_accumulate(TILE_ROWS, VECTORS, count, rows, 1, LANES, d, COLUMNS, sum);
            tile_flush(TILE_ROWS, VECTORS, 1, sum, du + c * shape->cout, shape->cout);
            continue;
        }
        for (size_t k = 0; k < columns; k += LANES) {
            tile_accumulate(TILE_ROWS, 1, count, rows, 1, LANES, d + k, COLUMNS, sum);
            tile_flush(TILE_ROWS, 1, 1, sum, du + c * shape->cout + k, shape->cout);
        }
    }
}

/* COLUMNS or fewer output channels of A dy A^T for `count` tiles from `p` on; dy is at the first of them. */
INLINE void gradients(const struct conv_shape *shape, struct place p, size_t count, size_t columns, const real *dy, real *d)
{
    size_t cout = shape->cout, width = shape->w + 2;
    for (size_t t = 0; t < count; t++, p = place_next(shape, p))
        for (size_t k = 0; k < columns; k += LANES)
            transform_gradient(dy + ((p.image * (shape->h + 2) + p.r + 1) * width + p.s + 1) * cout + k, width * cout, cout,
                               d + t * COLUMNS + k, WD_FREQUENCY);
}

static void weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *du, real *workspace,
                    struct ahead *ahead)
{
    size_t cin = shape->cin, cout = shape->cout, tiles = n * (shape->h / 2) * (shape->w / 2);
    real *v = workspace, *d = workspace + cin / LANES * WV_BLOCK;
    ahead_begin(ahead, (tiles + WINOGRAD_GROUP - 1) / WINOGRAD_GROUP * (cout / LANES) * (cin / TILE_ROWS) * WINOGRAD_FREQUENCIES / VECTORS);
    for (size_t first = 0; first < tiles; first += WINOGRAD_GROUP) {
        size_t count = tiles - first < WINOGRAD_GROUP ? tiles - first : WINOGRAD_GROUP;
        struct place p = place_of(shape, first);
        for (size_t c = 0; c < cin; c += LANES)
            inputs(shape, p, count, x + c, v + c / LANES * WV_BLOCK, WV_FREQUENCY);
        for (size_t o = 0; o < cout; o += COLUMNS) {
            size_t columns = columns_at(cout, o);
            gradients(shape, p, count, columns, dy + o, d);
            for (size_t f = 0; f < WINOGRAD_FREQUENCIES; f++)
                accumulate(shape, count, columns, v + f * WV_FREQUENCY, d + f * WD_FREQUENCY, du + f * cin * cout + o, ahead);
        }
    }
}

const struct winograd TARGET_NAME(winograd_) = {transform, forward, weights, gradient};

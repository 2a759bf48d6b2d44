/* Channels lie in the lanes; a vector of channels is taken over a row of pixels. Sums over pixels are made of parts of PART pixels in
 * `real`, added up in double: a float sum of 32 terms keeps 22 bits, and the order does not depend on the vector. */
#include "bnsweep/core/block.h"

#include "target_internal.h"

#include <stdint.h>

enum { PART = 32 };

#ifdef BNSWEEP_DOUBLE
typedef int64_t integer;
#else
typedef int32_t integer;
#endif
typedef integer mask __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(integer)), may_alias)); /* -1 in the lanes where it holds */

INLINE vector choose(mask where, vector yes, vector no)
{
    return (vector)((where & (mask)yes) | (~where & (mask)no));
}

/* b takes a's place in a window searched from a to b, as PyTorch does: the first of equals stays, a NaN wins. */
INLINE mask replaces(vector b, vector a)
{
    return (b > a) | (b != b);
}

INLINE vector normalised(vector z, vector mean, vector scale, vector shift)
{
    return (z - mean) * scale + shift;
}

INLINE vector positive(vector y)
{
    return choose(y < 0, (vector){0}, y);
}

INLINE void add_lanes(vector part, double *sum)
{
    real lanes[LANES];
    store(lanes, part);
    for (size_t lane = 0; lane < LANES; lane++)
        sum[lane] += (double)lanes[lane];
}

/* One part's deviations of z[rows][channels] from pivot, `vectors` vectors of channels at once: a sum alone waits for each addition. */
INLINE void add_deviations(size_t vectors, size_t rows, size_t channels, const real *z, const real *pivot, double *sum, double *square)
{
    vector part[2] = {{0}, {0}}, part_square[2] = {{0}, {0}};
    for (size_t row = 0; row < rows; row++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++) {
            vector d = load(z + row * channels + v * LANES) - load(pivot + v * LANES);
            part[v] += d;
            part_square[v] += d * d;
        }
    for (size_t v = 0; v < vectors; v++) {
        add_lanes(part[v], sum + v * LANES);
        add_lanes(part_square[v], square + v * LANES);
    }
}

static void deviations(size_t rows, size_t channels, const real *z, double *sum, double *square)
{
    for (size_t at = 0; at < rows; at += PART) {
        size_t here = rows - at < PART ? rows - at : PART, c = 0;
        for (; c + 2 * LANES <= channels; c += 2 * LANES)
            add_deviations(2, here, channels, z + at * channels + c, z + c, sum + c, square + c);
        for (; c < channels; c += LANES)
            add_deviations(1, here, channels, z + at * channels + c, z + c, sum + c, square + c);
    }
}

static void pool(const struct block_size *size, const real *z, const real *sign, real *pooled)
{
    size_t c = size->channels, row = size->w * c;
    for (size_t r = 0; r < size->h / 2; r++)
        for (size_t s = 0; s < size->w / 2; s++, pooled += c)
            for (size_t j = 0; j < c; j += LANES) {
                const real *from = z + 2 * r * row + 2 * s * c + j;
                vector sgn = load(sign + j), best = load(from), key = best * sgn;
#pragma GCC unroll 3
                for (size_t k = 1; k < 4; k++) {
                    vector next = load(from + k / 2 * row + k % 2 * c), next_key = next * sgn;
                    mask better = replaces(next_key, key);
                    best = choose(better, next, best);
                    key = choose(better, next_key, key);
                }
                store(pooled + j, best);
            }
}

static void activate(const struct block_size *size, const real *z, const struct block_affine *affine, real *out)
{
    size_t c = size->channels;
    for (size_t r = 0; r < size->h; r++)
        for (size_t j = 0; j < c; j += LANES) {
            vector mean = load(affine->mean + j), scale = load(affine->scale + j), shift = load(affine->shift + j);
            const real *from = z + r * size->w * c + j;
            real *to = out + ((r + 1) * (size->w + 2) + 1) * c + j;
            for (size_t s = 0; s < size->w; s++)
                store(to + s * c, positive(normalised(load(from + s * c), mean, scale, shift)));
        }
}

static void average(const struct block_size *size, const real *z, const struct block_affine *affine, real *mean_out)
{
    size_t c = size->channels, pixels = size->h * size->w;
    for (size_t j = 0; j < c; j += LANES) {
        vector mean = load(affine->mean + j), scale = load(affine->scale + j), shift = load(affine->shift + j), sum = {0};
        for (size_t p = 0; p < pixels; p++)
            sum += positive(normalised(load(z + p * c + j), mean, scale, shift));
        store(mean_out + j, sum * ((real)1 / (real)pixels));
    }
}

static void gradient_sums(const struct block_size *size, const real *z, const real *g, const struct block_affine *affine, double *sum,
                          double *sum_z)
{
    size_t c = size->channels, pixels = size->h * size->w;
    for (size_t at = 0; at < pixels; at += PART)
        for (size_t j = 0; j < c; j += LANES) {
            size_t end = pixels - at < PART ? pixels : at + PART;
            vector mean = load(affine->mean + j), scale = load(affine->scale + j), shift = load(affine->shift + j);
            vector part = {0}, part_z = {0};
            for (size_t p = at; p < end; p++) {
                vector d = load(z + p * c + j) - mean;
                vector passed = choose(d * scale + shift > 0, load(g + p * c + j), (vector){0});
                part += passed;
                part_z += passed * d;
            }
            add_lanes(part, sum + j);
            add_lanes(part_z, sum_z + j);
        }
}

/* The six vectors of LANES channels. */
struct lane_values {
    vector mean, scale, shift, sign, offset, slope;
};

INLINE struct lane_values lane_values(const struct block_affine *affine, const struct block_slopes *slopes, size_t j)
{
    return (struct lane_values){load(affine->mean + j), load(affine->scale + j),  load(affine->shift + j),
                                load(affine->sign + j), load(slopes->offset + j), load(slopes->slope + j)};
}

/* The gradient of z without what came from the pixel itself. */
INLINE vector common(const struct lane_values *l, vector z)
{
    return -((z - l->mean) * l->slope + l->offset);
}

static void spread(const struct block_size *size, const real *z, const real *g, const struct block_affine *affine,
                   const struct block_slopes *slopes, real *dz)
{
    size_t c = size->channels;
    for (size_t r = 0; r < size->h; r++)
        for (size_t j = 0; j < c; j += LANES) {
            struct lane_values l = lane_values(affine, slopes, j);
            size_t from = r * size->w * c + j;
            real *to = dz + ((r + 1) * (size->w + 2) + 1) * c + j;
            for (size_t s = 0; s < size->w; s++) {
                vector at = load(z + from + s * c), y = normalised(at, l.mean, l.scale, l.shift);
                vector passed = choose(y > 0, load(g + from + s * c), (vector){0});
                store(to + s * c, passed * l.scale + common(&l, at));
            }
        }
}

/* One window: z and dz at its first pixel, whose rows are `z_row` and `dz_row` apart. */
INLINE void spread_window(const struct lane_values *l, const real *z, size_t z_row, vector g, size_t c, real *dz, size_t dz_row)
{
    vector at[4] = {load(z), load(z + c), load(z + z_row), load(z + z_row + c)};
    vector best = at[0], key = at[0] * l->sign;
    mask better[4];
#pragma GCC unroll 3
    for (size_t k = 1; k < 4; k++) {
        vector next_key = at[k] * l->sign;
        better[k] = replaces(next_key, key);
        best = choose(better[k], at[k], best);
        key = choose(better[k], next_key, key);
    }
    vector passed = choose(normalised(best, l->mean, l->scale, l->shift) > 0, g, (vector){0}) * l->scale;
    mask rest = ~(mask){0}; /* no later pixel of the window took this one's place */
#pragma GCC unroll 3
    for (size_t k = 3; k > 0; k--) {
        store(dz + k / 2 * dz_row + k % 2 * c, choose(better[k] & rest, passed, (vector){0}) + common(l, at[k]));
        rest &= ~better[k];
    }
    store(dz, choose(rest, passed, (vector){0}) + common(l, at[0]));
}

/* What no window covers: the last column of row r from s on, or the last row. */
static void spread_rest(const struct block_size *size, size_t r, size_t s, const real *z, const struct block_affine *affine,
                        const struct block_slopes *slopes, real *dz)
{
    size_t c = size->channels;
    for (; s < size->w; s++)
        for (size_t j = 0; j < c; j += LANES) {
            struct lane_values l = lane_values(affine, slopes, j);
            store(dz + ((r + 1) * (size->w + 2) + s + 1) * c + j, common(&l, load(z + (r * size->w + s) * c + j)));
        }
}

static void spread_pool(const struct block_size *size, const real *z, const real *g, const struct block_affine *affine,
                        const struct block_slopes *slopes, real *dz)
{
    size_t c = size->channels, z_row = size->w * c, dz_row = (size->w + 2) * c, h = size->h / 2 * 2, w = size->w / 2 * 2;
    for (size_t r = 0; r < h; r += 2)
        for (size_t s = 0; s < w; s += 2)
            for (size_t j = 0; j < c; j += LANES) {
                struct lane_values l = lane_values(affine, slopes, j);
                for (size_t next = 0; next < 4; next++) /* the window below: two rows are too short for the processor to see a pattern */
                    __builtin_prefetch(z + (r + 2 + next / 2) * z_row + (s + next % 2) * c + j);
                spread_window(&l, z + r * z_row + s * c + j, z_row, load(g + (r / 2 * (w / 2) + s / 2) * c + j), c,
                              dz + (r + 1) * dz_row + (s + 1) * c + j, dz_row);
            }
    for (size_t r = 0; r < h; r++)
        spread_rest(size, r, w, z, affine, slopes, dz);
    if (size->h > h)
        spread_rest(size, h, 0, z, affine, slopes, dz);
}

const struct block TARGET_NAME(block_) = {deviations, pool, activate, average, gradient_sums, spread, spread_pool};

/* What the sources share that are compiled once for each instruction set (direct.c, winograd.c, block.c): the vector, and the
 * tile of a matrix product that stays in registers.
 *
 * The vector's width and the tile's size are the target's; the order of every sum is the source's, and no sum runs across lanes.
 * So all targets with fused multiply-add (avx512, avx2) give the same bits. TARGET and its numbers come from CMake; without them
 * this is the baseline, which any processor runs: 16-byte vectors and no contraction. */
#ifndef BNSWEEP_CORE_TARGET_INTERNAL_H
#define BNSWEEP_CORE_TARGET_INTERNAL_H

#include "bnsweep/core/real.h"

#include <stddef.h>

#ifndef TARGET
#define TARGET baseline
#define VECTOR_BYTES 16
#define VECTORS 4
#define TILE_ROWS 2
#define PATCH_ROWS 9
#define PATCH_VECTORS 1
#endif

#define TARGET_JOIN_(a, b) a##b
#define TARGET_JOIN(a, b) TARGET_JOIN_(a, b)
#define TARGET_NAME(prefix) TARGET_JOIN(prefix, TARGET)

typedef real vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

enum {
    LANES = VECTOR_BYTES / sizeof(real),
    COLUMNS = VECTORS * LANES /* columns of a tile; at most 32, and dividing 32 */
};

#define INLINE static inline __attribute__((always_inline))

INLINE vector load(const real *from)
{
    return *(const vector *)from;
}

INLINE void store(real *to, vector value)
{
    *(vector *)to = value;
}

/* sum[row][v] += the sum over k of a[row a_row + k a_step] b[k b_step + v]: `rows` values broadcast against `vectors` vectors,
 * in the order of k. The sizes are constants where it is called. */
INLINE void tile_accumulate(size_t rows, size_t vectors, size_t terms, const real *a, size_t a_row, size_t a_step, const real *b,
                            size_t b_step, vector (*sum)[VECTORS])
{
    for (size_t k = 0; k < terms; k++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++) {
            vector column = load(b + k * b_step + v * LANES);
#pragma GCC unroll 9
            for (size_t row = 0; row < rows; row++)
                sum[row][v] += a[row * a_row + k * a_step] * column;
        }
}

/* y[row y_row + v] = sum, or += it; then sum = 0. */
INLINE void tile_flush(size_t rows, size_t vectors, int add, vector (*sum)[VECTORS], real *y, size_t y_row)
{
#pragma GCC unroll 9
    for (size_t row = 0; row < rows; row++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++) {
            real *to = y + row * y_row + v * LANES;
            if (add)
                store(to, load(to) + sum[row][v]);
            else
                store(to, sum[row][v]);
            sum[row][v] = (vector){0};
        }
}

#endif

/* What stands between two convolutions (norm, ReLU, 2x2 max pool), forward and backward, in as few passes over memory as possible; once
 * for each instruction set (core/engine.h chooses).
 *
 * Norms appear as one affine map a channel, y = (z - mean) scale + shift. It is monotonic, so the pool is taken before it: the largest y
 * of a window is that of the largest z where scale is above 0, of the smallest where it is below, of the first where it is 0 (sign is 1,
 * -1 or 0). One image a call; channels a multiple of 16; arrays [pixels][channels] unless said otherwise. */
#ifndef BNSWEEP_CORE_BLOCK_H
#define BNSWEEP_CORE_BLOCK_H

#include "bnsweep/core/real.h"

#include <stddef.h>

/* Each [channels], not owned. */
struct block_affine {
    const real *mean, *scale, *shift, *sign;
};

/* dz = scale g - (offset + (z - mean) slope); each [channels], not owned. */
struct block_slopes {
    const real *offset, *slope;
};

struct block_size {
    size_t h, w, channels;
};

struct block {
    /* sum and square [channels] += the sums of z[rows][channels] - z[0] and of its square. */
    void (*deviations)(size_t rows, size_t channels, const real *z, double *sum, double *square);
    /* pooled[h/2][w/2][channels] = the z of each window whose y is largest, the first of equals; a NaN wins. */
    void (*pool)(const struct block_size *size, const real *z, const real *sign, real *pooled);
    /* The interior of out[h+2][w+2][channels] = max(y, 0) of z[h][w][channels]; a NaN stays. */
    void (*activate)(const struct block_size *size, const real *z, const struct block_affine *affine, real *out);
    /* mean[channels] = the mean of max(y, 0) over pixels. */
    void (*average)(const struct block_size *size, const real *z, const struct block_affine *affine, real *mean);
    /* sum and sum_z [channels] += the sums of g and of g (z - mean) over the pixels where y is above 0. */
    void (*gradient_sums)(const struct block_size *size, const real *z, const real *g, const struct block_affine *affine, double *sum,
                          double *sum_z);
    /* The interior of dz[h+2][w+2][channels], where g[h][w][channels] is the gradient of max(y, 0). */
    void (*spread)(const struct block_size *size, const real *z, const real *g, const struct block_affine *affine,
                   const struct block_slopes *slopes, real *dz);
    /* The same where g[h/2][w/2][channels] is the gradient of the pool of max(y, 0). */
    void (*spread_pool)(const struct block_size *size, const real *z, const real *g, const struct block_affine *affine,
                        const struct block_slopes *slopes, real *dz);
};

extern const struct block block_baseline;
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
extern const struct block block_avx2, block_avx512;
#elif defined(__aarch64__) && !defined(BNSWEEP_DOUBLE)
extern const struct block block_neon;
#endif

#endif

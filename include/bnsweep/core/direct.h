/* 3x3 convolutions without a patch matrix, once for each instruction set; core/engine.h chooses.
 *
 * x[n][h+2][w+2][cin] and dy[n][h+2][w+2][cout] have a border of zeros around each image; y[n][h][w][cout] has none; weights are
 * w[3][3][cin][cout] as in core/conv.h. cout is a multiple of 16, cin any. */
#ifndef BNSWEEP_CORE_DIRECT_H
#define BNSWEEP_CORE_DIRECT_H

#include "bnsweep/core/ahead.h"
#include "bnsweep/core/conv.h"

struct direct {
    /* y = the convolution of x; meanwhile `ahead` is fetched. */
    void (*forward)(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, struct ahead *ahead);
    /* dw[3][3][cin][cout] += the gradient of w; likewise. */
    void (*weights)(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw, struct ahead *ahead);
};

/* One other than baseline must not be called on a processor without its instructions. avx512, avx2 and neon give the same bits. */
extern const struct direct direct_baseline;
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
extern const struct direct direct_avx2, direct_avx512;
#elif defined(__aarch64__) && !defined(BNSWEEP_DOUBLE)
extern const struct direct direct_neon;
#endif

#endif

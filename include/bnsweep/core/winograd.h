/* 3x3 convolutions by Winograd's F(2x2, 3x3) (Lavin and Gray, 2016), once for each instruction set: 16 products where the direct way
 * takes 36. core/engine.h chooses.
 *
 * h and w are even, cin and cout multiples of 16. x[n][h+2][w+2][cin] and dy[n][h+2][w+2][cout] have a border of zeros around each
 * image; y[n][h][w][cout] has none. Transformed weights take 16 cin cout elements in an order of the target's own; their
 * gradient is du[16][cin][cout]. */
#ifndef BNSWEEP_CORE_WINOGRAD_H
#define BNSWEEP_CORE_WINOGRAD_H

#include "bnsweep/core/ahead.h"
#include "bnsweep/core/conv.h"

#include <stdbool.h>

enum { WINOGRAD_FREQUENCIES = 16, WINOGRAD_GROUP = 64 /* tiles whose gradient of the weights is summed at a time */ };

struct winograd {
    /* u = G w G^T of w[3][3][cin][cout]. */
    void (*transform)(size_t cin, size_t cout, const real *w, real *u);
    /* y = the convolution of x; meanwhile `ahead` is fetched. */
    void (*forward)(const struct conv_shape *shape, size_t n, const real *x, const real *u, real *y, real *workspace,
                    struct ahead *ahead);
    /* du += the transformed gradient of the weights; likewise. */
    void (*weights)(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *du, real *workspace,
                    struct ahead *ahead);
    /* dw[3][3][cin][cout] = G^T du G. */
    void (*gradient)(size_t cin, size_t cout, const real *du, real *dw);
};

extern const struct winograd winograd_baseline;
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
extern const struct winograd winograd_avx2, winograd_avx512;
#elif defined(__aarch64__) && !defined(BNSWEEP_DOUBLE)
extern const struct winograd winograd_neon;
#endif

/* Return whether the shape is one that Winograd's way can do. */
static inline bool winograd_fits(const struct conv_shape *shape)
{
    return shape->h % 2 == 0 && shape->w % 2 == 0 && shape->cin % 16 == 0 && shape->cout % 16 == 0;
}

/* Return how many elements of workspace it needs. */
static inline size_t winograd_workspace(const struct conv_shape *shape)
{
    return WINOGRAD_FREQUENCIES * (WINOGRAD_GROUP + 8) * (shape->cin + 32);
}

#endif

/* Matrix products; the one place that calls a BLAS, on one thread (its bits depend on the number of threads). */
#ifndef BNSWEEP_CORE_GEMM_H
#define BNSWEEP_CORE_GEMM_H

#include "bnsweep/core/real.h"

#include <stddef.h>

enum gemm_form {
    GEMM_AB,  /* a [m][k], b [k][n] */
    GEMM_ATB, /* a [k][m], b [k][n] */
    GEMM_ABT, /* a [m][k], b [n][k] */
};

/* Compute c = product + beta c; all row-major and dense, c [m][n]; every size at most INT_MAX (checked where shapes are made). */
void gemm_multiply(enum gemm_form form, size_t m, size_t n, size_t k, const real *a, const real *b, real beta, real *c);

/* Return the BLAS library's own description (version, kernel), for the record; owned by the library. */
const char *gemm_library(void);

#endif

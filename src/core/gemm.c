#include "bnsweep/core/gemm.h"

#include <cblas.h>

#ifdef BNSWEEP_DOUBLE
#define cblas_gemm cblas_dgemm
#else
#define cblas_gemm cblas_sgemm
#endif

/* The sum over k is cut into blocks: a product of 576 terms in one chain loses far more bits than in chains of 64, and
 * an activation that lands on the other side of a ReLU or of its neighbour in a pool is not a small difference any more. */
enum { BLOCK = 64 };

void gemm_multiply(enum gemm_form form, size_t m, size_t n, size_t k, const real *a, const real *b, real beta, real *c)
{
    CBLAS_TRANSPOSE transpose_a = form == GEMM_ATB ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE transpose_b = form == GEMM_ABT ? CblasTrans : CblasNoTrans;
    size_t lda = form == GEMM_ATB ? m : k, ldb = form == GEMM_ABT ? k : n;
    size_t step_a = form == GEMM_ATB ? m : 1, step_b = form == GEMM_ABT ? 1 : n;
    openblas_set_num_threads(1);
    for (size_t at = 0; at < k; at += BLOCK, beta = 1) {
        size_t here = k - at < BLOCK ? k - at : BLOCK;
        cblas_gemm(CblasRowMajor, transpose_a, transpose_b, (int)m, (int)n, (int)here, 1, a + at * step_a, (int)lda,
                   b + at * step_b, (int)ldb, beta, c, (int)n);
    }
}

const char *gemm_library(void)
{
    return openblas_get_config();
}

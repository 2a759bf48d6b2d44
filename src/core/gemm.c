#include "bnsweep/core/gemm.h"

#include <cblas.h>

#ifdef BNSWEEP_DOUBLE
#define cblas_gemm cblas_dgemm
#else
#define cblas_gemm cblas_sgemm
#endif

void gemm_multiply(enum gemm_form form, size_t m, size_t n, size_t k, const real *a, const real *b, real beta, real *c)
{
    CBLAS_TRANSPOSE transpose_a = form == GEMM_ATB ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE transpose_b = form == GEMM_ABT ? CblasTrans : CblasNoTrans;
    int lda = (int)(form == GEMM_ATB ? m : k), ldb = (int)(form == GEMM_ABT ? k : n);
    openblas_set_num_threads(1);
    cblas_gemm(CblasRowMajor, transpose_a, transpose_b, (int)m, (int)n, (int)k, 1, a, lda, b, ldb, beta, c, (int)n);
}

const char *gemm_library(void)
{
    return openblas_get_config();
}

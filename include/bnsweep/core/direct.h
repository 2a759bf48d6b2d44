/* The direct convolution engine, once for each instruction set; core/engine.h chooses. */
#ifndef BNSWEEP_CORE_DIRECT_H
#define BNSWEEP_CORE_DIRECT_H

#include "bnsweep/core/conv.h"

/* A target other than baseline must not be called on a processor without its instructions. avx512 and avx2 give the same bits. */
extern const struct conv_engine direct_baseline_engine;
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
extern const struct conv_engine direct_avx2_engine, direct_avx512_engine;
#endif

#endif

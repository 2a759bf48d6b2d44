/* Which engine computes the network on this processor. */
#ifndef BNSWEEP_CORE_ENGINE_H
#define BNSWEEP_CORE_ENGINE_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/block.h"
#include "bnsweep/core/direct.h"
#include "bnsweep/core/winograd.h"

/* The kernels of one instruction set; all NULL in the reference, which works layer by layer with im2row and a BLAS. */
struct engine {
    const char *name;
    const char *bits; /* the class of engines that give the same bits: "fma", "baseline" or "blas" */
    const struct direct *direct;
    const struct winograd *winograd;
    const struct block *block;
};

extern const struct engine engine_reference;

/* Give the fastest engine that the processor has the instructions for: fused-avx512, fused-avx2 or fused-neon, fused-baseline. The
 * environment variable BNSWEEP_ISA (avx512, avx2, neon, baseline, reference) forces one. The first three give the same bits. The library in double has
 * baseline and reference, and takes the reference unless told otherwise.
 * STATUS_INPUT where BNSWEEP_ISA is something else, or what the processor lacks. */
enum status engine_choose(const struct engine **out);

/* Give the index-th engine that this processor can run, the fastest first; NULL after the last. */
const struct engine *engine_at(size_t index);

/* Return the name of the engine that engine_choose gives, "none" where it gives none. */
const char *engine_name(void);

#endif

/* Which convolution engine runs on this processor. */
#ifndef BNSWEEP_CORE_ENGINE_H
#define BNSWEEP_CORE_ENGINE_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/conv.h"

/* Give the fastest engine that the processor has the instructions for: direct-avx512, direct-avx2 or direct-baseline. The
 * environment variable BNSWEEP_ISA (avx512, avx2, baseline, reference) forces one. The first two give the same bits. Layers whose
 * channels are no multiple of 16 are computed by the reference inside every engine. In double it is always the reference.
 * STATUS_INPUT where BNSWEEP_ISA is something else, or what the processor lacks. */
enum status engine_choose(const struct conv_engine **out);

/* Return the name of the engine that engine_choose gives, "none" where it gives none. */
const char *engine_name(void);

/* Return the class of engines that give the same bits as this one: "fma", "baseline" or "blas". */
const char *engine_class(const struct conv_engine *engine);

#endif

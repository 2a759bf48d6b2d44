#include "bnsweep/core/engine.h"

#include "bnsweep/core/direct.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* X(name in BNSWEEP_ISA, engine, class of bits, whether this processor can run it), the fastest first. */
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
#define ENGINES_X86(X)                                                                                                            \
    X("avx512", direct_avx512_engine, "fma",                                                                                      \
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))                   \
    X("avx2", direct_avx2_engine, "fma", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define ENGINES_X86(X)
#endif
#define ENGINES(X)                                             \
    ENGINES_X86(X)                                             \
    X("baseline", direct_baseline_engine, "baseline", true)    \
    X("reference", conv_reference, "blas", true)

enum status engine_choose(const struct conv_engine **out)
{
    const char *wanted = getenv("BNSWEEP_ISA");
    if (sizeof(real) == sizeof(double))
        wanted = "reference"; /* the library in double is what the others are held against */
#define X(name, engine, class, supported)                                                                               \
    if (wanted ? strcmp(wanted, name) == 0 : (supported)) {                                                             \
        *out = &engine;                                                                                                 \
        return supported ? STATUS_OK : status_fail(STATUS_INPUT, "BNSWEEP_ISA is %s, which this processor lacks", name); \
    }
    ENGINES(X)
#undef X
#define X(name, engine, class, supported) " " name
    return status_fail(STATUS_INPUT, "BNSWEEP_ISA is '%s'; possible are:" ENGINES(X), wanted);
#undef X
}

const char *engine_name(void)
{
    const struct conv_engine *engine = NULL;
    return engine_choose(&engine) ? "none" : engine->name;
}

const char *engine_class(const struct conv_engine *engine)
{
#define X(name, candidate, class, supported) \
    if (engine == &candidate)                \
        return class;
    ENGINES(X)
#undef X
    return "unknown";
}

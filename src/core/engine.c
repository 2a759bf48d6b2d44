#include "bnsweep/core/engine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const struct engine engine_reference = {.name = "reference", .bits = "blas"};

#define ENGINE(isa, class) {"fused-" #isa, class, &direct_##isa, &winograd_##isa, &block_##isa}
static const struct engine baseline = ENGINE(baseline, "baseline");
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
static const struct engine avx2 = ENGINE(avx2, "fma"), avx512 = ENGINE(avx512, "fma");
#elif defined(__aarch64__) && !defined(BNSWEEP_DOUBLE)
static const struct engine neon = ENGINE(neon, "fma");
#endif

/* X(name in BNSWEEP_ISA, engine, whether this processor can run it), the fastest first. */
#if defined(__x86_64__) && !defined(BNSWEEP_DOUBLE)
#define ENGINES_FMA(X)                                                                                                         \
    X("avx512", avx512,                                                                                                        \
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&         \
          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))                                                 \
    X("avx2", avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#elif defined(__aarch64__) && !defined(BNSWEEP_DOUBLE)
#define ENGINES_FMA(X) X("neon", neon, true)
#else
#define ENGINES_FMA(X)
#endif
#define ENGINES(X)                  \
    ENGINES_FMA(X)                  \
    X("baseline", baseline, true)   \
    X("reference", engine_reference, true)

enum status engine_choose(const struct engine **out)
{
    const char *wanted = getenv("BNSWEEP_ISA");
    if (!wanted && sizeof(real) == sizeof(double))
        wanted = "reference"; /* the library in double is what the others are held against */
#define X(name, engine, supported)                                                                                       \
    if (wanted ? strcmp(wanted, name) == 0 : (supported)) {                                                              \
        *out = &engine;                                                                                                  \
        return supported ? STATUS_OK : status_fail(STATUS_INPUT, "BNSWEEP_ISA is %s, which this processor lacks", name); \
    }
    ENGINES(X)
#undef X
#define X(name, engine, supported) " " name
    return status_fail(STATUS_INPUT, "BNSWEEP_ISA is '%s'; possible are:" ENGINES(X), wanted);
#undef X
}

const struct engine *engine_at(size_t index)
{
#define X(name, engine, supported)     \
    if ((supported) && index-- == 0)   \
        return &engine;
    ENGINES(X)
#undef X
    return NULL;
}

const char *engine_name(void)
{
    const struct engine *engine = NULL;
    return engine_choose(&engine) ? "none" : engine->name;
}

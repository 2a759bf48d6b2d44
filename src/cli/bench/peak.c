#include "peak.h"

#include "stopwatch.h"

#include "bnsweep/base/mem.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Enough independent sums to hide the latency of 4 cycles in two units, few enough for 16 registers. */
enum { SUMS = 12, ROUNDS = 1000000, MOST_BURSTS = 200, TRIAD_PASSES = 4 };

/* A kernel: SUMS vectors of `lanes` floats, each taken through ROUNDS multiply-adds x <- x a + b, which stay near 1. Returns something
 * that depends on all of them. */
#define KERNEL(name, attributes, lanes, MULTIPLY_ADD)                                              \
    attributes static float name(float start)                                                      \
    {                                                                                              \
        typedef float vector __attribute__((vector_size((lanes) * sizeof(float))));                \
        vector sum[SUMS], a = (vector){0} + 0.999f, b = (vector){0} + 0.001f, total = {0};         \
        for (int i = 0; i < SUMS; i++)                                                             \
            sum[i] = (vector){0} + start + 0.01f * (float)i;                                       \
        for (int round = 0; round < ROUNDS; round++)                                               \
            _Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++) sum[i] = MULTIPLY_ADD(sum[i], a, b); \
        for (int i = 0; i < SUMS; i++)                                                             \
            total += sum[i];                                                                       \
        return total[0] + total[(lanes) - 1];                                                      \
    }

#define SEPARATELY(x, a, b) ((x) * (a) + (b))
KERNEL(run_baseline, , 4, SEPARATELY)
#ifdef __x86_64__
KERNEL(run_avx2, __attribute__((target("avx2,fma"))), 8, _mm256_fmadd_ps)
KERNEL(run_avx512, __attribute__((target("avx512f"))), 16, _mm512_fmadd_ps)
#endif

struct kernel {
    const char *name;
    int lanes;
    float (*run)(float start);
};

static struct kernel widest(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return (struct kernel){"avx512f", 16, run_avx512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct kernel){"avx2,fma", 8, run_avx2};
#endif
    return (struct kernel){"baseline", 4, run_baseline};
}

const char *peak_instructions(void)
{
    return widest().name;
}

double peak_fma(double seconds)
{
    struct kernel kernel = widest();
    volatile float kept = 1;
    double took[MOST_BURSTS], started = stopwatch_now().wall;
    size_t count = 0;
    while (count == 0 || (count < MOST_BURSTS && stopwatch_now().wall - started < seconds)) {
        double before = stopwatch_now().cpu;
        kept = kernel.run(kept);
        took[count++] = stopwatch_now().cpu - before;
        kept = 1;
    }
    return 2.0 * SUMS * ROUNDS * kernel.lanes / stopwatch_spread(count, took).median;
}

static double triad_pass(size_t count, float *restrict a, const float *restrict b, const float *restrict c)
{
    double started = stopwatch_now().cpu;
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + 3.0f * c[i];
    return stopwatch_now().cpu - started;
}

enum status peak_triad(double *out)
{
    size_t count = PEAK_TRIAD_ARRAY / sizeof(float);
    float *a = mem_array(count, sizeof *a), *b = mem_array(count, sizeof *b), *c = mem_array(count, sizeof *c);
    *out = 0;
    for (int pass = 0; a && b && c && pass < TRIAD_PASSES; pass++) {
        double rate = 3.0 * PEAK_TRIAD_ARRAY / triad_pass(count, a, b, c);
        *out = rate > *out ? rate : *out;
    }
    mem_free(a);
    mem_free(b);
    mem_free(c);
    return *out > 0 ? STATUS_OK : STATUS_NOMEM;
}

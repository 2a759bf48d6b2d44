/* Numbers for tests: reproducible fillings, and one measure of error that says what differed. */
#ifndef BNSWEEP_TESTS_NUMBERS_H
#define BNSWEEP_TESTS_NUMBERS_H

#include "testing.h"

#include <math.h>

#include "bnsweep/core/real.h"

/* Half a unit in the last place of 1. */
#define NUMBERS_ROUNDING (sizeof(real) == 4 ? 0x1p-24 : 0x1p-53)

/* Numbers in [-1, 1) from a linear congruential generator, so that tests do not rest on the one they test. */
static inline double numbers_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*state * 0x1p-63;
}

static inline void numbers_fill(uint64_t seed, size_t count, real *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (real)numbers_next(&seed);
}

/* The larger one of two; a NaN stays, which fmax would drop. */
static inline double numbers_larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* The largest |a - b|, as a share of the largest |b| (of 1 where b is all zero); infinite where either holds a NaN. */
static inline double numbers_error(size_t count, const real *a, const real *b)
{
    double difference = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(a[i]) || isnan(b[i]))
            return INFINITY;
        difference = numbers_larger(difference, fabs((double)a[i] - (double)b[i]));
        scale = numbers_larger(scale, fabs((double)b[i]));
    }
    return difference / (scale > 0 ? scale : 1);
}

static inline void numbers_near(double value, double expected, double tolerance, const char *text, const char *file, int line)
{
    if (fabs(value - expected) <= tolerance)
        return;
    print_error("%s is %.17g, expected %.17g to within %g\n", text, value, expected, tolerance);
    _fail(file, line);
}

/* |value - expected| <= tolerance; a NaN fails. */
#define assert_near(value, expected, tolerance) \
    numbers_near((double)(value), (double)(expected), (double)(tolerance), #value, __FILE__, __LINE__)

#endif

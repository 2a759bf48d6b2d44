#include "stopwatch.h"

#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct stopwatch stopwatch_now(void)
{
    return (struct stopwatch){read_clock(CLOCK_THREAD_CPUTIME_ID), read_clock(CLOCK_MONOTONIC)};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct stopwatch_spread stopwatch_spread(size_t count, double *values)
{
    qsort(values, count, sizeof *values, compare);
    return (struct stopwatch_spread){(values[(count - 1) / 2] + values[count / 2]) / 2, values[0], values[count - 1]};
}

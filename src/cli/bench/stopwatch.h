/* Time spent, and the spread of repeated measurements of it. */
#ifndef BNSWEEP_CLI_STOPWATCH_H
#define BNSWEEP_CLI_STOPWATCH_H

#include <stddef.h>

/* Seconds. `cpu` is this thread's processor time: what others do on the machine hardly counts; `wall` goes on always. */
struct stopwatch {
    double cpu, wall;
};

struct stopwatch_spread {
    double median, least, most;
};

/* Return the time from an arbitrary start. */
struct stopwatch stopwatch_now(void);

/* Return the spread of values[count], count at least 1; sorts them. */
struct stopwatch_spread stopwatch_spread(size_t count, double *values);

#endif

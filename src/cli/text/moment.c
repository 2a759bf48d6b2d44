#include "moment.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

void moment_utc(double seconds, char out[MOMENT_SIZE])
{
    struct tm utc;
    time_t whole = fabs(seconds) < 1e11 ? (time_t)seconds : 0;
    if (!(fabs(seconds) < 1e11) || !gmtime_r(&whole, &utc))
        snprintf(out, MOMENT_SIZE, "-");
    else
        strftime(out, MOMENT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void moment_span(double seconds, char out[MOMENT_SIZE])
{
    if (!(seconds >= 0 && seconds < 1e12)) {
        snprintf(out, MOMENT_SIZE, "-");
        return;
    }
    long long whole = llround(seconds);
    if (seconds < 10)
        snprintf(out, MOMENT_SIZE, "%.2g s", seconds);
    else if (whole < 60)
        snprintf(out, MOMENT_SIZE, "%lld s", whole);
    else if (whole < 3600)
        snprintf(out, MOMENT_SIZE, "%lld:%02lld min", whole / 60, whole % 60);
    else
        snprintf(out, MOMENT_SIZE, "%lld:%02lld:%02lld h", whole / 3600, whole / 60 % 60, whole % 60);
}

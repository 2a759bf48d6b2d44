/* To be preloaded: the wall clock jumps by CLOCK_JUMP seconds once CLOCK_AFTER seconds of the program have passed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static double begun = -1, after, jump;

static int real_time(clockid_t clock, struct timespec *out)
{
    static int (*call)(clockid_t, struct timespec *);
    if (!call)
        call = dlsym(RTLD_NEXT, "clock_gettime");
    return call(clock, out);
}

static double monotonic(void)
{
    struct timespec now;
    real_time(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static time_t offset(void)
{
    if (begun < 0) {
        const char *wait = getenv("CLOCK_AFTER"), *by = getenv("CLOCK_JUMP");
        after = wait ? atof(wait) : 0;
        jump = by ? atof(by) : 0;
        begun = monotonic();
    }
    return monotonic() - begun >= after ? (time_t)jump : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = real_time(clock, out);
    if (clock == CLOCK_REALTIME && result == 0)
        out->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *out, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

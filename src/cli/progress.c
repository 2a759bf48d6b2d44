#include "progress.h"

#include "bnsweep/base/log.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { BAR = 30, FIRST_INTERVAL = 10, LONGEST_INTERVAL = 60 };

void progress_begin(struct progress *progress)
{
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO), .interval = FIRST_INTERVAL};
}

static void format_time(double seconds, char out[32])
{
    long s = lround(seconds);
    if (!(seconds >= 0) || seconds > 1e8)
        snprintf(out, 32, "?");
    else if (s >= 3600)
        snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
}

/* Seconds left, from how fast the work went since the start; NaN while nothing has gone. */
static double time_left(const struct progress *progress, double now, const struct manager_progress *at)
{
    double done = at->seconds_done - progress->seconds_first;
    return done > 0 ? (now - progress->started) * (at->seconds - at->seconds_done) / done : NAN;
}

static void describe(const struct progress *progress, double now, const struct manager_progress *at, char out[256])
{
    char left[32], failed[48] = "";
    format_time(time_left(progress, now, at), left);
    if (at->failed)
        snprintf(failed, sizeof failed, ", %u failed", at->failed);
    snprintf(out, 256, "%3.0f%%  %u of %u units done%s, %u training, %s left", at->seconds > 0 ? 100 * at->seconds_done / at->seconds : 0,
             at->units_ended, at->units, failed, at->running, left);
}

void progress_show(struct progress *progress, double now, const struct manager_progress *at)
{
    char text[256], bar[BAR + 1];
    if (!progress->started) {
        progress->started = progress->shown = now;
        progress->seconds_first = at->seconds_done;
    }
    if (!progress->terminal && now - progress->shown < progress->interval)
        return;
    describe(progress, now, at, text);
    if (!progress->terminal) {
        log_write(LOG_INFO, "%s", text);
        progress->interval = fmin(2 * progress->interval, LONGEST_INTERVAL);
    } else {
        int filled = at->seconds > 0 ? (int)(BAR * at->seconds_done / at->seconds) : 0;
        for (int i = 0; i < BAR; i++)
            bar[i] = i < filled ? '#' : '.';
        bar[BAR] = 0;
        fprintf(stderr, "\r[%s] %s\033[K", bar, text);
    }
    progress->shown = now;
}

void progress_end(struct progress *progress)
{
    if (progress->terminal && progress->started)
        fputs("\n", stderr);
}

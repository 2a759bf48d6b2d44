/* How far a sweep is, for who watches: a bar with the time left on a terminal, elsewhere a plain line now and then. */
#ifndef BNSWEEP_CLI_PROGRESS_H
#define BNSWEEP_CLI_PROGRESS_H

#include "bnsweep/mpi/manager.h"

#include <stdbool.h>

struct progress {
    bool terminal;
    double started, shown; /* on the clock of `now`; 0 before the first call */
    double seconds_first;  /* work that was behind us then */
    double interval;       /* seconds between plain lines */
};

/* Start; standard error decides between bar and lines. */
void progress_begin(struct progress *progress);

/* Show it where it is time to. */
void progress_show(struct progress *progress, double now, const struct manager_progress *at);

/* End the bar's line. */
void progress_end(struct progress *progress);

#endif

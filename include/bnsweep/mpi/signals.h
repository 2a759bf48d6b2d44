/* The signals by which a scheduler or a user ends a sweep: SIGUSR1, SIGTERM and SIGINT ask for it, a second SIGTERM or SIGINT means now.
 * Process-wide. */
#ifndef BNSWEEP_MPI_SIGNALS_H
#define BNSWEEP_MPI_SIGNALS_H

#include <stdbool.h>

/* Count these signals from the first call on, and ignore SIGPIPE, to the end of the process: one that comes late, while the store is
 * being written, must not kill it. Call it before long preparations; session_run does too. */
void signals_begin(void);

/* Return the name of the first signal that came; NULL: none. */
const char *signals_stop(void);
/* Return whether the end must not be waited for. */
bool signals_now(void);

#endif

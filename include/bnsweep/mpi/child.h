/* A worker's view of its training child: a process of its own, so that a crash or an out-of-memory kill costs one attempt and not
 * the job. Messages go to its descriptor 3 and come from its descriptor 4 (mpi/trainer.h is the other side). */
#ifndef BNSWEEP_MPI_CHILD_H
#define BNSWEEP_MPI_CHILD_H

#include "bnsweep/mpi/wire.h"

#include <stdbool.h>

enum {
    CHILD_IN = 3,                /* the child's descriptors */
    CHILD_OUT = 4,
    CHILD_STOPPED_EXIT = 75      /* its exit status after saving its state on SIGTERM */
};

struct child_config {
    const char *program;    /* path, not owned; NULL: /proc/self/exe */
    char *const *arguments; /* argv, NULL-terminated, not owned */
    double hang_seconds;    /* without a message for so long it is killed; 0: never */
    double stop_seconds;    /* it may take so long to save its state */
};

struct child;

/* Start a child for the JOB message `job`; `job->pid` is set by this function. The child gets descriptors 0-2 (0 is /dev/null), 3
 * and 4 and no others, and the environment without MPI's variables. Times are seconds of one monotonic clock. SIGPIPE must be
 * ignored (signals_begin). The child is freed with child_free. STATUS_IO where the process cannot be started, STATUS_NOMEM. */
enum status child_spawn(const struct child_config *config, const struct wire_message *job, double now, struct child **out);

/* Drive the child (never blocks) and give its next message: RECORD or PROGRESS, and as the last one, when the process is gone,
 * FINISHED, STOPPED or FAILED with the reason. False: nothing now. With `listen` false its pipe is left alone, so that it will wait
 * when that is full. Records come numbered 1, 2, ...; garbage, a wrong number or silence kill the child, which is then FAILED.
 * `out` is valid until the next call. */
bool child_poll(struct child *child, double now, bool listen, struct wire_message *out);

/* Tell the child that its records up to `number` are on disk. */
void child_acknowledge(struct child *child, uint32_t number);

/* Ask the child (SIGTERM) to save its state and end with CHILD_STOPPED_EXIT; it is killed after stop_seconds. */
void child_stop(struct child *child, double now);

/* Ask it the same, and let it know that nothing more will be acknowledged: it saves a state only if all its records are on disk, and
 * does not wait. */
void child_halt(struct child *child, double now);

/* Kill the child if it still runs, wait for it, free everything; NULL is allowed. */
void child_free(struct child *child);

#endif

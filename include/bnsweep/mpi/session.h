/* A sweep over all ranks: rank 0 manages, the others train; a world of one rank does both. */
#ifndef BNSWEEP_MPI_SESSION_H
#define BNSWEEP_MPI_SESSION_H

#include "bnsweep/mpi/comm.h"
#include "bnsweep/mpi/manager.h"
#include "bnsweep/mpi/worker.h"

/* X(type, name, default, what it is): times in seconds. */
#define SESSION_LIMITS(X)                                                                                      \
    X(unsigned, max_attempts, 3, "failures after which a trajectory is given up")                             \
    X(unsigned, suspect_after, 3, "trajectories that crash in a row on one worker alone, then it gets no more for now (0: never)") \
    X(double, commit_seconds, 1, "between two commits, at most, while something waits for one")               \
    X(double, ping_seconds, 5, "between two heartbeats, both ways")                                           \
    X(double, silent_seconds, 120, "silence after which the other side is given up (0: never)")               \
    X(double, hang_seconds, 600, "a training process without a word for so long is killed (0: never)")        \
    X(double, stop_seconds, 30, "a training process may take so long to save its state")                      \
    X(double, start_margin, 45, "nothing is started so shortly before the deadline")                          \
    X(double, stop_margin, 30, "everything is told to stop so long before the deadline")

struct session_limits {
#define X(type, name, value, help) type name;
    SESSION_LIMITS(X)
#undef X
};

struct session_config {
    /* on all ranks */
    const char *program;    /* of the training process; NULL: this program; not owned */
    char *const *arguments; /* its argv, NULL-terminated; not owned */
    const char *identity;   /* what must be the same on all ranks, for instance version and commit; not owned */
    struct session_limits limits;
    /* on rank 0 */
    const struct manager_trajectory *trajectories; /* [trajectory_count], longest first; not owned */
    uint32_t trajectory_count;
    const uint32_t *rows; /* [unit_count], see manager.h; not owned */
    uint32_t unit_count;
    double deadline; /* seconds since 1970; 0: none */
};

struct session_unit {
    uint32_t row, attempt;
    enum manager_unit_state state;
    int rank;
    const char *host, *reason; /* valid during the call */
    double time;               /* seconds since 1970 */
};

/* What rank 0 does with what comes in. Any failure ends the sweep: workers save their states, nothing more is taken in or
 * acknowledged, and session_run returns it. None of these may call the session's modules. */
struct session_callbacks {
    void *context;
    /* Append the bytes that the training process is to get. */
    enum status (*job)(void *context, uint32_t trajectory, uint32_t attempt, struct pack *pack);
    /* Take a record (packed as in measure/record.h); each (row, attempt, number) comes once. */
    enum status (*record)(void *context, uint32_t row, uint32_t attempt, uint32_t number, const void *bytes, size_t size);
    /* Take a unit's new state; a unit that ended well says so by its END record. */
    enum status (*unit)(void *context, const struct session_unit *unit);
    /* Make all that was taken durable; only then is it acknowledged. */
    enum status (*commit)(void *context);
    /* Called about twice a second. */
    enum status (*tick)(void *context, double now, const struct manager_progress *progress);
};

/* Return the limits' defaults. */
struct session_limits session_default_limits(void);

/* Run the sweep (collective; `callbacks` are used on rank 0 only). Rank 0 returns STATUS_OK, STATUS_FAILED where some trajectories
 * failed for good, STATUS_INCOMPLETE when stopped by a signal, the deadline or the loss of all workers, STATUS_VERSION where the
 * ranks run different programs, or a callback's error. Other ranks return STATUS_OK when rank 0 has ended them, STATUS_INCOMPLETE,
 * or STATUS_IO where rank 0 is silent. Signals stay counted afterwards (signals.h). Where ranks were given up, comm_finalize then
 * ends the job. */
enum status session_run(struct comm *comm, const struct session_config *config, const struct session_callbacks *callbacks);

#endif

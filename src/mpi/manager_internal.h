/* The manager's state, shared by manager.c (messages and time), assign.c (trajectories to workers), blame.c (which workers are not to be
 * trusted) and receipt.c (records). */
#ifndef BNSWEEP_MPI_MANAGER_INTERNAL_H
#define BNSWEEP_MPI_MANAGER_INTERNAL_H

#include "bnsweep/mpi/fifo.h"
#include "bnsweep/mpi/manager.h"

enum manager_stage { WORKING, DRAINING, QUITTING, OVER };
enum worker_state { ABSENT, IDLE, BUSY, HELD /* gets no work for now */, RETIRED /* gets no more work */, GONE /* said goodbye */, LOST };
enum trajectory_state { PENDING, RUNNING, DONE, FAILED };

enum stop_cause { ASKED, TOO_LATE, NO_WORKER };

#define NONE UINT32_MAX
enum { FAILURES_KEPT = 3 };

struct trajectory {
    uint32_t attempt;
    uint32_t next; /* in the list of retries */
    uint32_t failed_on[FAILURES_KEPT]; /* the workers on which it failed */
    uint8_t state, failures;
};

struct worker {
    uint32_t trajectory, attempt;     /* held while BUSY */
    uint32_t accepted, persisted;     /* record numbers of this attempt */
    uint32_t next_idle, next_told;    /* links of the two lists */
    uint32_t ack_trajectory, ack_attempt, ack_number;
    uint32_t crashes;                 /* in a row, of trajectories that failed nowhere else */
    uint64_t host;                    /* a hash of its name */
    uint8_t state;
    bool leaving, told;               /* told: in the list of those to be acknowledged */
    double heard, seconds, started;   /* seconds: of the trajectory's expected ones, behind us; started: its attempt */
};

/* A record that was taken in: acknowledged when all up to `serial` are on disk. */
struct waiting {
    uint64_t serial;
    uint32_t worker, trajectory, attempt, number;
};

struct manager {
    struct manager_config config;
    struct manager_actions actions;
    enum manager_stage stage;
    bool halted;
    struct trajectory *trajectories;
    struct worker *workers;
    bool *ended;            /* [unit] */
    struct fifo waiting;
    uint64_t serial, persisted;
    uint32_t next;          /* trajectory never handed out so far */
    uint32_t retry, last_retry; /* list: NONE or the first and the last one */
    uint32_t idle;          /* stack; may hold workers that have become RETIRED or LOST meanwhile */
    uint32_t busy, active;  /* active: workers that may still take work */
    uint32_t suspects, held; /* active ones that crash too often; those of them that get no work */
    uint32_t gone, lost, present;
    uint32_t done, failed, ended_count;
    uint64_t records;
    double seconds, seconds_done;
    double slowest; /* the most seconds that a finished attempt took for each expected one; 0: none has finished */
    double ticked, pinged, stage_since;
    enum stop_cause cause;
};

/* assign.c: which worker trains which trajectory. Errors are those of the actions. */

/* Give trajectories to idle workers while there are both, and it is neither drained nor too late to start. */
enum status assign_hand_out(struct manager *manager, double now);
/* Return whether it is too late to start what comes next. Something that is known to be short may be started later than the rest. */
bool assign_too_late(const struct manager *manager, double now);
/* Return whether some trajectory waits for a worker. */
bool assign_work_left(const struct manager *manager);
/* A worker is ready for work, or held. */
void assign_idle(struct manager *manager, uint32_t worker);
/* A worker takes no more work, after what it has. */
void assign_retire(struct manager *manager, uint32_t worker);
/* A busy worker's attempt has ended, in one of three ways; it is free again unless it was retired. */
enum status assign_finished(struct manager *manager, uint32_t worker, uint32_t records, double now);
enum status assign_stopped(struct manager *manager, uint32_t worker, bool asked);
enum status assign_failed(struct manager *manager, uint32_t worker, const char *reason);

/* blame.c: whether a failure is the trajectory's fault or its worker's. A worker that crashes on several trajectories in a row, none of
 * which has failed anywhere else, is held back until one of them has; but never all of them. Retries go elsewhere where they can. */

/* A trajectory has failed on a worker. */
void blame_failure(struct manager *manager, uint32_t trajectory, uint32_t worker);
/* A worker has finished a trajectory. */
void blame_success(struct manager *manager, uint32_t worker);
/* A worker is about to be no more active. */
void blame_leaving(struct manager *manager, uint32_t worker);
/* Return whether a worker is to be held back. */
bool blame_holds(const struct manager *manager, uint32_t worker);
/* Release all that are held where there is nobody else left. */
void blame_review(struct manager *manager);
/* Return whether a worker may try a trajectory: not where it failed there and another worker, or, better, one of another host is left. */
bool blame_may_take(const struct manager *manager, uint32_t worker, uint32_t trajectory);

/* receipt.c: records in, acknowledgements out. Errors are those of the actions, and STATUS_NOMEM. */

/* Take in a RECORD message. */
enum status receipt_record(struct manager *manager, uint32_t worker, const struct wire_message *record);
/* Acknowledge what is on disk. */
enum status receipt_acknowledge(struct manager *manager);

/* Return whether the message is of the attempt that the worker holds. */
static inline bool worker_holds(const struct worker *worker, const struct wire_message *message)
{
    return worker->state == BUSY && worker->trajectory == message->trajectory && worker->attempt == message->attempt;
}

#endif

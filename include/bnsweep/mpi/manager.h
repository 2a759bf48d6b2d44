/* The manager: who trains what, what is on disk, what has failed. A pure state machine: messages and times in, actions out through
 * `struct manager_actions`; no MPI, no files, no clock, so that a simulator drives it as well as rank 0 does.
 *
 * A trajectory is one training run that serves the units in one or more store rows. It is handed out, retried and given up as a whole;
 * each time it is handed out is an attempt, and records of any but the present attempt are dropped. A record is acknowledged once it
 * is on disk (manager_persisted). A unit is done when its END record was taken in.
 *
 * All functions are local. Each event returns the first error of an action, or STATUS_NOMEM; manager_halt is what may follow. Events
 * must not be called from inside an action. */
#ifndef BNSWEEP_MPI_MANAGER_H
#define BNSWEEP_MPI_MANAGER_H

#include "bnsweep/mpi/wire.h"

#include <stdbool.h>

/* X(NAME, printable name): what the manager says about a unit; that it is done, its END record says. */
#define MANAGER_UNIT_STATES(X) \
    X(PENDING, "pending")      \
    X(RUNNING, "running")      \
    X(FAILED, "failed")

enum manager_unit_state {
#define X(name, text) MANAGER_UNIT_##name,
    MANAGER_UNIT_STATES(X)
#undef X
};

struct manager_trajectory {
    double seconds;              /* expected; only weighs the progress. Order them longest first */
    uint32_t first_unit, units;  /* its rows are rows[first_unit .. first_unit + units) of the configuration, ascending */
    uint32_t attempts;           /* made in earlier runs: numbering goes on behind them */
};

struct manager_config {
    const struct manager_trajectory *trajectories; /* [trajectory_count], handed out in this order; not owned, outlives the manager */
    uint32_t trajectory_count;
    const uint32_t *rows; /* [sum of units]: store rows; not owned, outlives the manager */
    uint32_t unit_count;
    uint32_t workers;
    unsigned max_attempts;              /* failures in this run after which a trajectory is given up */
    unsigned suspect_after;             /* trajectories that crash in a row on one worker and nowhere else, after which it is held back; 0: never */
    double deadline;                    /* on the clock of `now`; 0: none */
    double start_margin, stop_margin;   /* seconds before it when nothing is started any more; when all are told to stop */
    double ping_seconds;                /* between two heartbeats to the workers */
    double silent_seconds;              /* a worker that says nothing for so long is given up; 0: never */
    double drain_seconds;               /* so long workers may take to stop; 0: for ever */
};

struct manager_unit {
    uint32_t row, attempt, worker;
    enum manager_unit_state state;
    const char *reason; /* of a failure; "" otherwise; valid during the call */
};

/* What the manager wants done, by whoever drives it. */
struct manager_actions {
    void *context;
    /* Send to a worker; a JOB comes without its bytes, which the receiver of this call adds. */
    enum status (*send)(void *context, uint32_t worker, const struct wire_message *message);
    /* Write a record; it is the next serial number, from 1. */
    enum status (*persist)(void *context, const struct wire_message *record);
    /* Write a unit's new state. */
    enum status (*unit)(void *context, const struct manager_unit *unit);
    /* Tell people that a worker was given up, and why; `reason` is valid during the call. */
    void (*given_up)(void *context, uint32_t worker, const char *reason);
};

struct manager_progress {
    uint32_t trajectories, done, failed, running; /* the others are pending */
    uint32_t units, units_ended;                  /* ended: done or diverged */
    uint32_t workers, busy, held;                 /* workers that said hello and have not left; held: get no work for now */
    uint64_t records;
    double seconds, seconds_done; /* expected in all; of that behind us, parts of running trajectories included */
};

struct manager;

/* Create a manager; freed with manager_free. STATUS_INPUT where a trajectory's rows are out of range or not ascending, STATUS_NOMEM. */
enum status manager_create(const struct manager_config *config, const struct manager_actions *actions, double now,
                           struct manager **out);
void manager_free(struct manager *manager);

/* Take in a worker's message (HELLO, RECORD, PROGRESS, FINISHED, STOPPED, FAILED, ALIVE, LEAVING, BYE). STATUS_CORRUPT for others. */
enum status manager_message(struct manager *manager, uint32_t worker, const struct wire_message *message, double now);

/* A worker is gone for good: its trajectory is tried elsewhere. */
enum status manager_lost(struct manager *manager, uint32_t worker, const char *reason, double now);

/* All records up to serial number `serial` are on disk. */
enum status manager_persisted(struct manager *manager, uint64_t serial, double now);
/* Return the serial number of the last record given to `persist`. */
uint64_t manager_serial(const struct manager *manager);

/* Start no more, tell all workers to stop; over when all have answered. */
enum status manager_drain(struct manager *manager, double now);
/* Start no more, tell all workers to stop without waiting for acknowledgements, and neither persist nor acknowledge anything from now
 * on: the disk has failed. */
enum status manager_halt(struct manager *manager, double now);

/* Let time pass: heartbeats, deadline, silent workers. Call it about every second at least. */
enum status manager_tick(struct manager *manager, double now);

/* Return whether all workers have said goodbye or were given up. */
bool manager_over(const struct manager *manager);
/* Return whether no more work is handed out. */
bool manager_draining(const struct manager *manager);
/* Return whether a worker gets no work for now, since everything crashes on it that works elsewhere or has not been tried there. */
bool manager_is_held(const struct manager *manager, uint32_t worker);
/* Return how many workers were given up without a goodbye. */
uint32_t manager_lost_count(const struct manager *manager);
/* Return STATUS_OK, STATUS_INCOMPLETE or STATUS_FAILED with a message, as things stand. */
enum status manager_result(const struct manager *manager);
void manager_get_progress(const struct manager *manager, struct manager_progress *out);

#endif

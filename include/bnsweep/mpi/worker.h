/* The worker: runs one training child at a time for the manager, passes its records on, and knows which of them are on disk.
 *
 * A record is in the worker's books from the moment it is read from the pipe until it is acknowledged; when too much is in the books,
 * the pipe is no longer read and the child waits. MPI loses no message while the job lives, and when the job dies so do all its
 * ranks, so no copy is kept for sending again: what protects a record then is that no saved state is ahead of the disk (trainer.h). */
#ifndef BNSWEEP_MPI_WORKER_H
#define BNSWEEP_MPI_WORKER_H

#include "bnsweep/mpi/child.h"
#include "bnsweep/mpi/comm.h"

struct worker_config {
    struct child_config child;
    const char *identity;     /* of the program; the manager refuses another than its own; not owned */
    double alive_seconds;     /* between two signs of life, and at least between two PROGRESS messages passed on */
    double silent_seconds;    /* a manager on another rank that says nothing for so long is given up; 0: never */
    size_t max_unacknowledged;       /* records in the books */
    size_t max_unacknowledged_bytes;
};

struct worker;

/* Create a worker that works for rank 0 (local), and say hello; freed with worker_free. Times are of one monotonic clock.
 * STATUS_NOMEM, STATUS_IO. */
enum status worker_create(struct comm *comm, const struct worker_config *config, double now, struct worker **out);

/* Kill a running child and free the worker; NULL is allowed. */
void worker_free(struct worker *worker);

/* Take in a message of the manager (JOB, ACK, PING, DRAIN, HALT, QUIT). STATUS_CORRUPT for others, STATUS_IO, STATUS_NOMEM. */
enum status worker_message(struct worker *worker, const struct wire_message *message, double now);

/* Drive the child and pass on what it says, without waiting; `*active` is set where something happened, else left as it is.
 * STATUS_IO where the manager is silent too long, STATUS_NOMEM. */
enum status worker_step(struct worker *worker, double now, bool *active);

/* Take no more work, and stop the child, which saves its state; the manager is told why. Repeating it does nothing. */
enum status worker_leave(struct worker *worker, const char *reason, double now);

/* Return whether the manager has ended this worker. */
bool worker_over(const struct worker *worker);

#endif

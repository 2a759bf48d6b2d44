/* Messages between ranks: bytes in, bytes out, never blocking. The only module that knows MPI. */
#ifndef BNSWEEP_MPI_COMM_H
#define BNSWEEP_MPI_COMM_H

#include "bnsweep/base/status.h"

#include <stddef.h>

struct comm;

struct comm_message {
    int from;          /* rank */
    const void *bytes; /* NULL: nothing came; owned by comm, valid until the next poll */
    size_t size;
};

/* Start MPI (collective, once a process) and give a communicator over all ranks, freed by comm_finalize.
 * Only the calling thread may use it. Without mpirun the world has one rank. STATUS_IO, STATUS_NOMEM. */
enum status comm_init(struct comm **out);

/* Refuse (local, to be called before comm_init, which Open MPI may not survive then) where the environment says that several
 * processes were started by something that MPI does not understand: each would be a manager of its own.
 * STATUS_INPUT, naming what to use instead. */
enum status comm_check_launch(void);

int comm_rank(const struct comm *comm);
int comm_size(const struct comm *comm);
/* Return this rank's host name; owned by comm. */
const char *comm_host(const struct comm *comm);

/* Let all ranks agree on the outcome of something each did on its own (collective; sleeps while it waits): return STATUS_OK where
 * all gave that, else the status and message of the lowest rank that failed, on every rank. */
enum status comm_agree(struct comm *comm, enum status mine);

/* Queue a copy of `size` bytes for `rank`, itself allowed (local). In order for each pair of ranks. STATUS_NOMEM, STATUS_IO. */
enum status comm_send(struct comm *comm, int rank, const void *bytes, size_t size);

/* Drive what is queued and take the next message that came, if any (local). STATUS_IO, STATUS_NOMEM, STATUS_CORRUPT for one
 * longer than any frame. */
enum status comm_poll(struct comm *comm, struct comm_message *out);

/* Note that some rank will not take part in the end (local): comm_finalize then does not wait for it. */
void comm_give_up(struct comm *comm);

/* End MPI and free `comm` (NULL allowed). Collective: sends what is queued and waits, sleeping, for all ranks. After comm_give_up:
 * local, ends all ranks at once with `exit_code` and does not return. */
void comm_finalize(struct comm *comm, int exit_code);

#endif

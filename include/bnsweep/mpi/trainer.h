/* The training child's view of the worker that started it (mpi/child.h is the other side): the job in, records out.
 *
 * A saved state must never be ahead of the records on disk: what was measured before it would be measured by nobody. So a state
 * written after record n takes its final name only once trainer_acknowledged() >= n. */
#ifndef BNSWEEP_MPI_TRAINER_H
#define BNSWEEP_MPI_TRAINER_H

#include "bnsweep/mpi/wire.h"

#include <stdbool.h>

struct trainer {
    uint32_t trajectory, attempt;
    const void *job; /* the caller's bytes, owned by the trainer, valid until trainer_end */
    size_t job_size;
    uint32_t records;      /* sent so far */
    uint32_t acknowledged; /* as of the last look */
    bool halted;           /* nothing more will be acknowledged */
    struct pack in, out;   /* received and not yet understood; the frame being sent */
    unsigned char *frame;  /* owned: the job's frame */
};

/* Be a training child: die with the parent, ignore SIGINT, SIGUSR1 and SIGPIPE, let SIGTERM set trainer_stop_requested, and wait for
 * the job. End with trainer_end also on failure. STATUS_INPUT where the process was not started by a worker, STATUS_IO,
 * STATUS_CORRUPT, STATUS_VERSION, STATUS_NOMEM. */
enum status trainer_begin(struct trainer *trainer);

/* Return whether the worker wants the state saved and the process ended with CHILD_STOPPED_EXIT. */
bool trainer_stop_requested(void);

/* Send a record of the unit in `row` (blocks while the pipe is full). STATUS_IO where the worker is gone, STATUS_NOMEM, STATUS_INPUT. */
enum status trainer_record(struct trainer *trainer, uint32_t row, const void *bytes, size_t size);

/* Say how far the training is; also the sign of life that hang_seconds waits for. Errors as trainer_record. */
enum status trainer_progress(struct trainer *trainer, uint64_t step, uint64_t steps);

/* Say that all records have been sent; the process must then end with exit status 0. Errors as trainer_record. */
enum status trainer_finish(struct trainer *trainer);

/* Say why the process will end with another exit status. Errors as trainer_record. */
enum status trainer_fail(struct trainer *trainer, const char *reason);

/* Look, without waiting, up to which record all are on disk, into `trainer->acknowledged`. Errors as trainer_begin. */
enum status trainer_look(struct trainer *trainer);

/* Wait at most `seconds`, and no longer than anything is acknowledged, until record `number` is on disk; `*done` says whether it is.
 * Errors as trainer_begin. */
enum status trainer_wait(struct trainer *trainer, uint32_t number, double seconds, bool *done);

/* Free what the trainer holds. */
void trainer_end(struct trainer *trainer);

#endif

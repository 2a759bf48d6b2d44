/* A training process' records on their way out: the trajectory's doubles become the store's numbers, and what comes every step is
 * sent many steps at a time. */
#ifndef BNSWEEP_CLI_OUTBOX_H
#define BNSWEEP_CLI_OUTBOX_H

#include "bnsweep/base/pack.h"
#include "bnsweep/base/status.h"
#include "bnsweep/measure/record.h"
#include "bnsweep/mpi/trainer.h"
#include "bnsweep/run/job.h"

/* Zero-initialise; free with outbox_free. */
struct outbox {
    struct trainer *trainer; /* not owned */
    const struct job *job;   /* not owned */
    struct variables_extent extent; /* the store's */
    struct pack pack;
    float *values;           /* [the largest record of floats] */
    double *steps;           /* [room] records of GROUP_STEP, of which `held` from step number `first` on wait */
    size_t step_size, room, held;
    uint32_t first;
};

/* Make room. STATUS_NOMEM. */
enum status outbox_create(struct outbox *outbox, struct trainer *trainer, const struct job *job);
void outbox_free(struct outbox *outbox);

/* The trajectory's sink; context is the outbox. Steps wait for outbox_flush, which anything but another step does first.
 * STATUS_IO, STATUS_NOMEM. */
enum status outbox_values(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count);

/* Send what waits. */
enum status outbox_flush(struct outbox *outbox);

/* Send a record of the job's unit number `unit`, behind what waits. */
enum status outbox_record(struct outbox *outbox, size_t unit, const struct record *record);

#endif

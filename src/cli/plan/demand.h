/* What a Slurm job for a sweep has to ask for: time, memory, and how early it must be told of its end. */
#ifndef BNSWEEP_CLI_DEMAND_H
#define BNSWEEP_CLI_DEMAND_H

#include "outlook.h"

#include <stdint.h>

struct demand {
    /* in */
    size_t nodes, cores; /* a node; a worker trains on each core, the manager sleeps beside them */
    double limit, lead;  /* seconds, of the job and from the stop signal to its end; 0: to be chosen here */
    /* out */
    double seconds, seconds_most; /* of the sweep, see estimate.h */
    double jobs, jobs_most;       /* of that limit, one after another, until it is done; 0 where nothing is to be done */
    uint64_t memory;              /* bytes a core */
};

/* Work it out for a sweep that is not refused. Times are from a measurement on this machine (outlook->estimate); memory is that of the
 * trajectory with the largest batches, built for a moment. STATUS_INPUT where the limit is too short for anything to be done in it,
 * or the time could not be estimated; STATUS_NOMEM. */
enum status demand_find(const struct outlook *outlook, struct demand *demand);

#endif

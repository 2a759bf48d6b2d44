/* What rank 0 tells a training process: one trajectory and the units it serves. */
#ifndef BNSWEEP_RUN_JOB_H
#define BNSWEEP_RUN_JOB_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/pack.h"
#include "bnsweep/base/status.h"
#include "bnsweep/run/trajectory.h"
#include "bnsweep/sweep/settings.h"

#include <stdbool.h>

enum { JOB_PATH_SIZE = 4096 };

struct job {
    size_t count;                             /* units, rising BN momenta not required */
    uint32_t rows[TRAJECTORY_MAX_MOMENTA];    /* of the store */
    double momenta[TRAJECTORY_MAX_MOMENTA];
    struct settings settings;                 /* of the first unit; the others differ in bn_momentum alone */
    struct hash key;                          /* of the trajectory and its momenta: names its saved state */
    char state[JOB_PATH_SIZE];                /* where its state is saved */
    double state_every;                       /* seconds between two saved states */
    uint32_t checks, samples;                 /* so many of each unit are recorded without a gap: no later state may be gone on from */
    uint64_t steps;                           /* the same of what the first unit keeps */
    uint64_t parameters;                      /* the store's axis */
    bool replay;                              /* from what the store keeps of another unit: */
    uint32_t source;                          /* its row */
    char store[JOB_PATH_SIZE];                /* "" where nothing is replayed */
};

/* Append the job's bytes. STATUS_NOMEM. */
enum status job_pack(const struct job *job, struct pack *pack);

/* Read a job; STATUS_CORRUPT, or STATUS_INPUT where its settings are not valid. */
enum status job_unpack(const void *bytes, size_t size, struct job *out);

/* Return whether what is recorded (job->checks, samples, steps) reaches as far as a state of `step`: what is missing before it nobody would
 * measure again. */
bool job_may_resume(const struct job *job, uint64_t step);

#endif

/* Holds the values of a training that is made again against those of its units in the store. */
#ifndef BNSWEEP_CLI_RECHECK_H
#define BNSWEEP_CLI_RECHECK_H

#include "rerun.h"

#include "bnsweep/run/trajectory.h"

/* What was found of one variable of one unit. */
struct recheck_tally {
    uint64_t compared, different;
    size_t place;       /* of the first difference, in the unit's values */
    double stored, now; /* there */
};

/* Zero-initialise, set the first three. */
struct recheck {
    const struct frame *frame; /* not owned */
    size_t count;              /* units */
    size_t rows[TRAJECTORY_MAX_MOMENTA];
    bool keeps[TRAJECTORY_MAX_MOMENTA];                /* the row has what is kept once a trajectory */
    bool *came[TRAJECTORY_MAX_MOMENTA][GROUP_COUNT];   /* [positions] */
    struct recheck_tally tally[TRAJECTORY_MAX_MOMENTA][VARIABLE_COUNT];
    char ends[TRAJECTORY_MAX_MOMENTA][256];            /* what differs at the end; "" */
    char *buffer;                                      /* a position of the largest variable, as stored */
    struct arena arena;
};

/* Make the workspace. STATUS_NOMEM, or errors of reading. */
enum status recheck_create(struct recheck *recheck);
void recheck_free(struct recheck *recheck);

/* The trajectory's sink; context is the recheck. Errors of reading the store. */
enum status recheck_values(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count);

/* Compare hashes, steps and the settings as applied, and see that the store has no values which training did not give.
 * `settings`: of the first unit. Errors of reading. */
enum status recheck_end(struct recheck *recheck, const struct trajectory *trajectory, const struct settings *settings, bool diverged);

/* Give all that differs to the listener, and add to the report. */
void recheck_report(const struct recheck *recheck, const struct proof_listener *listener, struct rerun_report *report);

#endif

/* A trajectory replayed from what another unit of it has kept (run/keep.h): the running averages of new momenta take in the stored
 * batches, checks are measured with the stored weights, and nothing is trained. Every record has the bits that training would give;
 * where that cannot be had, the replay fails and the units are to be trained. */
#ifndef BNSWEEP_RUN_REPLAY_H
#define BNSWEEP_RUN_REPLAY_H

#include "bnsweep/run/trajectory.h"

/* Where the stored values come from; each callback may fail with a status, which ends the replay. */
struct replay_source {
    void *context;
    uint64_t steps; /* steps that were trained: all, or fewer where it diverged */
    /* Read the statistics of `count` steps from number `first`, from 0, on: [count][net.channels] each. */
    enum status (*batches)(void *context, uint64_t first, size_t count, double *mean, double *var);
    /* Read the first `count` weights at a check. */
    enum status (*weights)(void *context, uint64_t check, size_t count, float *out);
    /* Read a unit's record of GROUP_CHECK. */
    enum status (*check)(void *context, uint64_t check, size_t count, float *out);
};

/* All arrays are in the trajectory's arena. */
struct replay {
    struct trajectory *trajectory; /* not owned */
    struct replay_source source;
    uint64_t first;       /* step number of the first in the block */
    size_t held, room;    /* steps in the block, and at most */
    double *mean, *var;   /* [room][net.channels] */
    float *weights;       /* [net.size] */
    float *record;        /* [a record of GROUP_CHECK] */
};

/* Return whether units with this plan can be replayed at all: averages of the weights need those of every step. */
bool replay_possible(const struct plan *plan);

/* Begin to replay a trajectory that was just created. STATUS_NOMEM. */
enum status replay_begin(struct replay *replay, struct trajectory *trajectory, const struct replay_source *source);

/* Replay the next step: one of source->steps. STATUS_MISMATCH where what was stored is incomplete or does not have the bits that this
 * machine gives (another instruction set's, say); then, and after a source's failure, some records may have been sent, which training
 * anew sends again. */
enum status replay_step(struct replay *replay);

#endif

/* How long a sweep will take, from a short measurement on this machine. */
#ifndef BNSWEEP_CLI_ESTIMATE_H
#define BNSWEEP_CLI_ESTIMATE_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/grouping.h"

#include <stdint.h>

/* Seconds with a core for each worker. `most`: if every check fails, so that measurements switched to `failing` are made at all. */
struct estimate {
    double work, work_most;       /* of all trajectories, one after another */
    double seconds, seconds_most; /* until the last worker is done */
};

/* Estimate the trajectories in `grouping`, handed out in its order to `workers` (at least 1) as they become free; each counts as
 * begun anew. `sources` [grouping->count] is UINT64_MAX for those that are trained, the others are replayed; NULL: all are trained.
 * `trajectories` [grouping->count] receives each one's seconds. Errors as calibrate_measure. */
enum status estimate_time(const struct sweep *sweep, const struct grouping *grouping, const uint64_t *sources, size_t workers,
                          double *trajectories, struct estimate *out);

#endif

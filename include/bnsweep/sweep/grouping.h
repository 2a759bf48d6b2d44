/* Which units share a training run, and how long each run takes. */
#ifndef BNSWEEP_SWEEP_GROUPING_H
#define BNSWEEP_SWEEP_GROUPING_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/sweep.h"

#include <stddef.h>

/* Zero-initialise; free with grouping_free. Group i is units[starts[i]] ... units[starts[i + 1] - 1]. */
struct grouping {
    size_t count;
    size_t *units;  /* [all the given units], owned */
    size_t *starts; /* [count + 1], owned */
    double *work;   /* [count] grouping_work of each unit in the group, owned */
};

/* Return the expected work of a unit's training, in multiply-adds of its convolutions: good for comparing units, not for
 * predicting seconds. A data file's images count as 32 x 32 x 3. */
double grouping_work(const struct settings *settings);

/* Group the `count` distinct unit indices into trajectories: units that may share one stand together, at most `most` of them;
 * with `most` 1 every unit is alone. Longest expected first; equal ones, and the units in a group, in the order given. The caller
 * frees `out` also on failure. STATUS_INPUT where an index is past the last unit, STATUS_NOMEM. */
enum status grouping_make(const struct sweep *sweep, const size_t *units, size_t count, size_t most, struct grouping *out);

void grouping_free(struct grouping *grouping);

#endif

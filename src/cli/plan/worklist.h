/* What a run has to train: which units, in which trajectories, and where an interrupted one was saved. */
#ifndef BNSWEEP_CLI_WORKLIST_H
#define BNSWEEP_CLI_WORKLIST_H

#include "bnsweep/base/status.h"
#include "bnsweep/run/job.h"
#include "bnsweep/store/writer.h"
#include "bnsweep/sweep/grouping.h"

/* Return whether a unit that stands so is to be trained. */
bool worklist_wants(const struct writer_unit *unit, bool retry_failed);

/* Group the units to be trained, longest trajectory first, the units of each by their rows. `units` [sweep->unit_count] says how
 * each stands. The caller frees `out` with grouping_free also on failure. STATUS_NOMEM. */
enum status worklist_make(const struct sweep *sweep, const struct writer_unit *units, bool retry_failed, bool fuse,
                          struct grouping *out);

/* Describe trajectory number `index` of the grouping: all of `out` but state_every. `states` is the folder of the saved states.
 * STATUS_INPUT where its path is too long. */
enum status worklist_job(const struct sweep *sweep, const struct writer_unit *units, const struct grouping *grouping, size_t index,
                         const char *states, struct job *out);

#endif

/* What can be known to fail before anything is made: data and init files that do not fit the settings. */
#ifndef BNSWEEP_CLI_PREFLIGHT_H
#define BNSWEEP_CLI_PREFLIGHT_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/sweep.h"

/* Check each unit's files against its network, batch and val_size; each file is read once for neighbouring units that share it.
 * STATUS_INPUT naming the unit, the file and what does not fit; STATUS_SHAPE, STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM. */
enum status preflight_check(const struct sweep *sweep);

#endif

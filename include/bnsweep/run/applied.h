/* Proof that a setting was applied: settings read back from the running network and optimizer, not copied from what was asked. */
#ifndef BNSWEEP_RUN_APPLIED_H
#define BNSWEEP_RUN_APPLIED_H

#include "bnsweep/base/status.h"
#include "bnsweep/run/trajectory.h"
#include "bnsweep/sweep/settings.h"

/* Read the settings of momentum number `unit` back into `out`: shapes from the parameter tensors, the optimizer's and schedule's
 * numbers from theirs, the momentum from the running statistics. Paths and their hashes, which the core does not know, are taken
 * from `asked`. */
void applied_read(const struct trajectory *trajectory, size_t unit, const struct settings *asked, struct settings *out);

/* Compare what was applied with what was asked. STATUS_INTERNAL naming the first key that differs, and both values. */
enum status applied_check(const struct settings *asked, const struct settings *applied);

#endif

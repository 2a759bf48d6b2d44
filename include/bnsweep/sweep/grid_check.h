/* What must hold for a sweep as a whole. */
#ifndef BNSWEEP_SWEEP_GRID_CHECK_H
#define BNSWEEP_SWEEP_GRID_CHECK_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/grid.h"

/* Check every unit's settings against each other, that all have one network shape, that every entry is read by a unit, and that
 * no two units are the same. Fills each arm's `relevant`, each entry's `used`, and `identities` [unit_count]. STATUS_INPUT with the
 * place to blame, STATUS_NOMEM. */
enum status grid_check(struct grid *grid, struct hash *identities);

#endif

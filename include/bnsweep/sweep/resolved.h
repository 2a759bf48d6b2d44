/* A sweep's resolved form, for provenance. */
#ifndef BNSWEEP_SWEEP_RESOLVED_H
#define BNSWEEP_SWEEP_RESOLVED_H

#include "bnsweep/base/pack.h"
#include "bnsweep/sweep/grid.h"

/* Append a sweep file that spans the same units in the same order, with every setting that is read written out, without an ending
 * zero. Check out->failed: STATUS_NOMEM. The grid has passed grid_check. */
void resolved_write(const struct grid *grid, struct pack *out);

#endif

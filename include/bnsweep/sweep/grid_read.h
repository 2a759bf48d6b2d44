/* From a parsed file and --set to arms and entries: names, places and values, before anything is multiplied out. */
#ifndef BNSWEEP_SWEEP_GRID_READ_H
#define BNSWEEP_SWEEP_GRID_READ_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/grid.h"

/* Fill grid->arms (names and lines) and grid->entries from the file's sections and `count` overrides; grid->path and grid->folder
 * are set. Errors as grid_build. */
enum status grid_read(struct grid *grid, const struct inifile *file, const char *const *overrides, size_t count);

#endif

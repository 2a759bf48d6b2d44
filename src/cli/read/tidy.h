/* A store as tidy CSV files: one row an observation, one column a variable. */
#ifndef BNSWEEP_CLI_TIDY_H
#define BNSWEEP_CLI_TIDY_H

#include "folder.h"

#include "bnsweep/store/reader.h"

/* Write units.csv (all per-unit columns) into the folder. STATUS_IO, STATUS_CORRUPT, STATUS_NOMEM. */
enum status tidy_units(const struct reader *reader, const struct folder *folder);

/* Write a file for each set of axes that has variables in this store: checks.csv, channels.csv, trace.csv and so on. Rows in which
 * nothing was measured are left out. STATUS_IO, STATUS_CORRUPT, STATUS_NOMEM. */
enum status tidy_values(const struct reader *reader, const struct folder *folder);

#endif

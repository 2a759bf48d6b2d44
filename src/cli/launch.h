/* Starting mpirun for `bnsweep run -j N`. */
#ifndef BNSWEEP_CLI_LAUNCH_H
#define BNSWEEP_CLI_LAUNCH_H

#include "bnsweep/base/status.h"

/* Become `mpirun -n workers+1` of this program with argv, its -j option taken out; returns only on failure: STATUS_IO (no mpirun),
 * STATUS_NOMEM. */
enum status launch_mpirun(long workers, int argc, char **argv);

#endif

/* Starting mpirun for `bnsweep run -j N`. */
#ifndef BNSWEEP_CLI_LAUNCH_H
#define BNSWEEP_CLI_LAUNCH_H

#include "bnsweep/base/status.h"

/* Run `mpirun -n workers+1` of this program with argv, its -j option taken out, and wait for it. SIGUSR1, SIGTERM and SIGINT reach the
 * ranks as SIGUSR1, on which they save their states; a second SIGTERM or SIGINT ends mpirun. Returns the status that belongs to the exit
 * status of rank 0, which has said what there is to say (the message is empty); STATUS_IO (no mpirun), STATUS_NOMEM. */
enum status launch_mpirun(long workers, int argc, char **argv);

#endif

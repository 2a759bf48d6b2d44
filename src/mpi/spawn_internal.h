/* Starting a training process with its two pipes. */
#ifndef BNSWEEP_MPI_SPAWN_INTERNAL_H
#define BNSWEEP_MPI_SPAWN_INTERNAL_H

#include "bnsweep/mpi/child.h"

#include <sys/types.h>

/* Start the program as child_spawn describes; our ends of its pipes are non-blocking, close-on-exec and the caller's to close.
 * STATUS_IO, STATUS_NOMEM. */
enum status spawn_process(const struct child_config *config, pid_t *pid, int *to_child, int *from_child);

#endif

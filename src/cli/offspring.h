/* Whether a process has children. */
#ifndef BNSWEEP_CLI_OFFSPRING_H
#define BNSWEEP_CLI_OFFSPRING_H

#include <stdbool.h>
#include <sys/types.h>

/* Return whether one of the process's threads has a child now; true also where this system does not say. */
bool offspring_any(pid_t process);

#endif

#include "launch.h"

#include "bnsweep/base/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open MPI refuses to run as root unless both are set; who starts us as root means it. */
static void allow_root(void)
{
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
}

enum status launch_mpirun(long workers, int argc, char **argv)
{
    char program[PATH_MAX], ranks[32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return status_fail(STATUS_IO, "could not find this program's path: %s", strerror(errno));
    program[length] = 0;
    snprintf(ranks, sizeof ranks, "%ld", workers + 1);
    /* -q: no banner about the exit status, which is ours to explain. The manager sleeps, so one rank more than cores is no burden. */
    const char *const head[] = {"mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-n", ranks, program};
    enum { HEAD = sizeof head / sizeof *head };
    const char **arguments = mem_array(HEAD + (size_t)argc + 1, sizeof *arguments);
    if (!arguments)
        return STATUS_NOMEM;
    size_t count = HEAD;
    memcpy(arguments, head, sizeof head);
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        only_operands = only_operands || strcmp(argv[i], "--") == 0;
        if (!only_operands && strcmp(argv[i], "-j") == 0)
            i++;
        else
            arguments[count++] = argv[i];
    }
    allow_root();
    fflush(NULL);
    execvp("mpirun", (char *const *)(uintptr_t)arguments);
    mem_free(arguments);
    return status_fail(STATUS_IO, "could not start mpirun: %s (Debian: apt-get install openmpi-bin)", strerror(errno));
}

/* The Slurm job script, filled in. Its one text is jobscripts/slurm.sbatch, which the build puts into the program. */
#ifndef BNSWEEP_CLI_JOBSCRIPT_H
#define BNSWEEP_CLI_JOBSCRIPT_H

#include "bnsweep/base/status.h"

#include <stddef.h>
#include <stdio.h>

/* The lines of the script that are filled in, X(NAME, how the line begins, that is replaced whole). */
#define JOBSCRIPT_LINES(X)                      \
    X(USAGE, "#   sbatch ")                     \
    X(NAME, "#SBATCH --job-name=")              \
    X(NODES, "#SBATCH --nodes=")                \
    X(TASKS, "#SBATCH --ntasks-per-node=")      \
    X(MEMORY, "#SBATCH --mem-per-cpu=")         \
    X(TIME, "#SBATCH --time=")                  \
    X(SIGNAL, "#SBATCH --signal=")              \
    X(NO_KILL, "#SBATCH --no-kill")             \
    X(PROGRAM, "program=")                      \
    X(ARGUMENTS, "arguments=")                  \
    X(LAUNCHER, "launcher=")                    \
    X(REQUEUES, "requeues=")                    \
    X(GRACE, "grace=")

enum jobscript_line {
#define X(name, text) JOBSCRIPT_##name,
    JOBSCRIPT_LINES(X)
#undef X
        JOBSCRIPT_LINE_COUNT
};

/* Write the script to `out`, each of the lines replaced by its text in `lines` (which may hold several lines; NULL: the line as it is).
 * STATUS_INTERNAL where the script has not exactly one of a line; write errors stay in `out`. */
enum status jobscript_write(FILE *out, const char *const lines[JOBSCRIPT_LINE_COUNT]);

/* Write `text` as one word of the shell: in single quotes. */
void jobscript_quote(FILE *out, const char *text);

#endif

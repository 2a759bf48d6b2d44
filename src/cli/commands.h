/* The subcommands. Each reads its own command line, prints its result, and returns a status that decides the exit code. */
#ifndef BNSWEEP_CLI_COMMANDS_H
#define BNSWEEP_CLI_COMMANDS_H

#include "bnsweep/base/status.h"

/* X(name, in the help, one line): `hidden` ones are called by the program itself. */
#define COMMANDS(X)                                                                                    \
    X(run, SHOWN, "train what a sweep file asks for and the store has not")                            \
    X(status, SHOWN, "say how a sweep stands, also while it runs")                                     \
    X(table, SHOWN, "rotation, norm growth and accuracies, a row an arm and BN momentum")              \
    X(show, SHOWN, "print all that is known of one unit, and whether its statistics are stale")        \
    X(verify, SHOWN, "check that a store is sound and that settings were really applied")              \
    X(repair, SHOWN, "go on from a damaged journal, with all that can be read of it")                  \
    X(diff, SHOWN, "compare two stores bit by bit")                                                    \
    X(export, SHOWN, "write a store as tidy CSV files")                                                \
    X(plan, SHOWN, "say what a run would do and how long it would take, and touch nothing")            \
    X(keys, SHOWN, "list the settings of a sweep file, or the measured variables")                     \
    X(bench, SHOWN, "time training on this machine, phase by phase, beside what a core can do")        \
    X(jobscript, SHOWN, "write a Slurm job script for a sweep, with the numbers it needs")             \
    X(publish, HIDDEN, "put the journal into the store")                                               \
    X(train, HIDDEN, "train one trajectory for a worker")

#define X(name, shown, help) enum status cmd_##name(int argc, char **argv);
COMMANDS(X)
#undef X

#endif

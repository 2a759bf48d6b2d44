/* The subcommands. Each reads its own command line, prints its result, and returns a status that decides the exit code. */
#ifndef BNSWEEP_CLI_COMMANDS_H
#define BNSWEEP_CLI_COMMANDS_H

#include "bnsweep/base/status.h"

/* X(name, in the help, one line): `hidden` ones are called by the program itself. */
#define COMMANDS(X)                                                                      \
    X(run, SHOWN, "train what a sweep file asks for and the store has not")              \
    X(publish, HIDDEN, "put the journal into the store")                                 \
    X(train, HIDDEN, "train one trajectory for a worker")

#define X(name, shown, help) enum status cmd_##name(int argc, char **argv);
COMMANDS(X)
#undef X

#endif

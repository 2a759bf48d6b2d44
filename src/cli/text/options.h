/* Command lines: each subcommand declares its options in a table, from which parsing and --help come. */
#ifndef BNSWEEP_CLI_OPTIONS_H
#define BNSWEEP_CLI_OPTIONS_H

#include "bnsweep/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { OPTIONS_MAX_OPERANDS = 8, OPTIONS_MAX_SETS = 256 };

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_COUNT, OPTION_SECONDS, OPTION_SETS };

/* The texts of a repeatable option (--set); not owned. */
struct option_sets {
    size_t count;
    const char *text[OPTIONS_MAX_SETS];
};

/* One option. `value` points at what it sets: bool, const char *, long (at least 1), double (at least 0), struct option_sets. */
struct option_row {
    const char *name; /* "-j", "--set" */
    enum option_type type;
    void *value;
    const char *argument, *help; /* argument NULL for a flag */
};

struct options {
    const char *command, *operands; /* "run", "FILE.ini" */
    const char *about;              /* what it does, for --help */
    const struct option_row *rows;
    size_t row_count;
    int operands_min, operands_max;
    /* out */
    const char *operand[OPTIONS_MAX_OPERANDS];
    int operand_count;
    bool help; /* --help was asked for and printed: end well */
};

/* Read argv[1 .. argc) by the table. Options and operands may come in any order; after -- all are operands.
 * STATUS_INPUT naming what was found, what is allowed, and the option nearest to an unknown one. */
enum status options_read(struct options *options, int argc, char **argv);

#endif

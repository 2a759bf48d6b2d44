/* The table that a sweep is made for: how fast the weights turn, and how well the running statistics keep up. */
#ifndef BNSWEEP_CLI_TABLE_H
#define BNSWEEP_CLI_TABLE_H

#include "bnsweep/base/status.h"

#include <stdio.h>

enum table_format { TABLE_PLAIN, TABLE_MARKDOWN, TABLE_CSV, TABLE_JSON };

/* Print the table of the store at `path`: one row an arm, BN momentum and other setting that varies in an arm, but for the seed;
 * rows by rising rotation; each measure's mean and standard deviation over the units that are done.
 * Errors as reader_open; STATUS_CORRUPT, STATUS_NOMEM. */
enum status table_print(const char *path, FILE *out, enum table_format format);

#endif

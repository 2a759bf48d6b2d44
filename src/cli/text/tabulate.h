/* Tables of texts for people: aligned columns, or Markdown. */
#ifndef BNSWEEP_CLI_TABULATE_H
#define BNSWEEP_CLI_TABULATE_H

#include "bnsweep/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum tabulate_style { TABULATE_PLAIN, TABULATE_MARKDOWN };

/* `right`: numbers. */
struct tabulate_column {
    const char *head; /* not owned */
    bool right;
};

/* Zero-initialise but for `columns` and `column_count`; free with tabulate_free. */
struct tabulate {
    const struct tabulate_column *columns; /* [column_count] not owned */
    size_t column_count;
    char **cells; /* owned, row by row */
    size_t count, capacity;
    bool failed; /* out of memory: what follows was not taken */
};

/* Add the next cell (printf format), left to right, row by row. */
void tabulate_cell(struct tabulate *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print the table, its last row filled up with empty cells. STATUS_NOMEM where a cell was lost. */
enum status tabulate_print(const struct tabulate *table, FILE *out, enum tabulate_style style);

void tabulate_free(struct tabulate *table);

#endif

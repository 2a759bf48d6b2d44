/* What this program is made of: version, commit, compiler, libraries, instruction set. */
#ifndef BNSWEEP_CLI_PROVENANCE_H
#define BNSWEEP_CLI_PROVENANCE_H

#include <stddef.h>
#include <stdio.h>

struct provenance_row {
    const char *name; /* also the store attribute's name */
    const char *text; /* static */
};

/* Return all rows, `*count` of them; static. */
const struct provenance_row *provenance_rows(size_t *count);

/* Return one line that must be the same on all ranks of a job: version, commit, compiler and the engine's class of bits; static. */
const char *provenance_identity(void);

/* Print the rows, one a line. */
void provenance_print(FILE *out);

#endif

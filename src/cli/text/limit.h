/* Slurm's time limits as texts. */
#ifndef BNSWEEP_CLI_LIMIT_H
#define BNSWEEP_CLI_LIMIT_H

#include <stdbool.h>

enum { LIMIT_SIZE = 32 };

/* Read a time as sbatch --time does: "90" (minutes), "90:00", "1:30:00", "1-12" (days-hours), "1-12:00", "1-12:00:00".
 * False, and `*seconds` unchanged, where it is none of these, zero, or longer than a hundred years. */
bool limit_parse(const char *text, double *seconds);

/* Write whole seconds as "1:30:00" or "1-12:00:00". */
void limit_format(double seconds, char out[LIMIT_SIZE]);

#endif

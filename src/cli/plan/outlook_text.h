/* The outlook for a reader. */
#ifndef BNSWEEP_CLI_OUTLOOK_TEXT_H
#define BNSWEEP_CLI_OUTLOOK_TEXT_H

#include "outlook.h"

/* Print it to standard output: the grid, how its units stand, what they will cost, and the units, all when they are few. */
enum status outlook_text_print(const struct outlook *outlook);

#endif

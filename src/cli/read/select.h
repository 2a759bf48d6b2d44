/* Finding the one unit that a user means. */
#ifndef BNSWEEP_CLI_SELECT_H
#define BNSWEEP_CLI_SELECT_H

#include "frame.h"

/* Find the unit that `text` means: a row number, or conditions joined by commas of which one without "=" is an arm's name and the
 * others are key=value. STATUS_INPUT where no unit, or more than one, meets them: the message says what would tell them apart. */
enum status select_unit(const struct frame *frame, const char *text, size_t *row);

#endif

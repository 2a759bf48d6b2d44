/* The outlook in one line, for scripts that decide whether to go on. */
#ifndef BNSWEEP_CLI_OUTLOOK_LEFT_H
#define BNSWEEP_CLI_OUTLOOK_LEFT_H

#include "outlook.h"

/* Print "left N, failed N, of N units; writer none|active|unknown" to standard output. Return STATUS_INCOMPLETE where units are left to
 * train, else STATUS_FAILED where some failed, else STATUS_OK: the store has all that the sweep asks for. No message. */
enum status outlook_left_print(const struct outlook *outlook);

#endif

/* The outlook for programs. */
#ifndef BNSWEEP_CLI_OUTLOOK_JSON_H
#define BNSWEEP_CLI_OUTLOOK_JSON_H

#include "outlook.h"

/* Print one JSON object to standard output, with all units. STATUS_NOMEM. */
enum status outlook_json_print(const struct outlook *outlook);

#endif

/* The tables of settings and of measured variables, printed. */
#ifndef BNSWEEP_CLI_KEYS_PRINT_H
#define BNSWEEP_CLI_KEYS_PRINT_H

#include "bnsweep/base/status.h"

enum { KEYS_PRINT_ALL = -1 };
enum keys_print_form { KEYS_PRINT_TEXT, KEYS_PRINT_MARKDOWN, KEYS_PRINT_JSON };

/* Print to standard output all settings that users may set, or only number `only` of settings_table. STATUS_NOMEM. */
enum status keys_print_settings(enum keys_print_form form, int only);

/* The same for variables_table. */
enum status keys_print_variables(enum keys_print_form form, int only);

#endif

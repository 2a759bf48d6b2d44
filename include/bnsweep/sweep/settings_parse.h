/* From a value's text to its typed field. */
#ifndef BNSWEEP_SWEEP_SETTINGS_PARSE_H
#define BNSWEEP_SWEEP_SETTINGS_PARSE_H

#include "bnsweep/sweep/settings.h"

/* Set one key from text without surrounding blanks. Return NULL; or what is wrong with the text ("is not a number"), `settings`
 * unchanged. */
const char *settings_parse(struct settings *settings, int key, const char *text);

#endif

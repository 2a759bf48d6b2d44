/* The rules that hold between settings. */
#ifndef BNSWEEP_SWEEP_SETTINGS_CHECK_H
#define BNSWEEP_SWEEP_SETTINGS_CHECK_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/settings.h"

/* Check that all required settings are `given` and that the settings fit each other.
 * given [SETTINGS_COUNT]: which keys somebody set; NULL means all.
 * STATUS_INPUT with a message, and in `key` the setting to blame. */
enum status settings_check(const struct settings *settings, const bool *given, int *key);

#endif

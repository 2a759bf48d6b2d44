/* The settings that are benchmarked: the experiment's own, changed by --set. */
#ifndef BNSWEEP_CLI_BENCH_SETTINGS_H
#define BNSWEEP_CLI_BENCH_SETTINGS_H

#include "text/options.h"

#include "bnsweep/sweep/settings.h"

/* Make them. No check is ever due in a benchmarked step. STATUS_INPUT with "--set key=value: ...": unknown or set twice, not allowed,
 * not read in this combination, or of no meaning for a benchmark. */
enum status bench_settings(const struct option_sets *sets, struct settings *out);

/* Return whether a report names this setting: it is one of the network's and the task's sizes, or not the default. */
bool bench_settings_shown(const struct settings *settings, int key);

#endif

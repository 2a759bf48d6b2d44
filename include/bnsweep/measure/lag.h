/* How far statistics stand from those the current weights produce, in units of the channel's standard deviation.
 * All arrays are [net->channels]; a quotient by a standard deviation of 0 (a dead channel) is NaN. */
#ifndef BNSWEEP_MEASURE_LAG_H
#define BNSWEEP_MEASURE_LAG_H

#include "bnsweep/core/running.h"

#include <stddef.h>

/* mean_lag = (running mean - fresh mean) / fresh std; var_ratio = running var / fresh var. */
void lag_of_running(size_t channels, const struct running *running, const struct running_batch *fresh, double *mean_lag,
                    double *var_ratio);

/* out = fresh mean / fresh std. */
void lag_mu_over_sigma(size_t channels, const struct running_batch *fresh, double *out);

/* out = |mean after - mean before| / std after: the drift of a fixed probe over one step. */
void lag_drift(size_t channels, const struct running_batch *before, const struct running_batch *after, double *out);

/* out = (running mean before the update - batch mean) / batch std for each layer that is not held; NaN for held layers. */
void lag_trace(const struct net *net, const bool *held, const struct running *running, const struct running_batch *batch, double *out);

#endif

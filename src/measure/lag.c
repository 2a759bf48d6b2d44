#include "bnsweep/measure/lag.h"

#include <math.h>

static double quotient(double value, double by)
{
    return by > 0 ? value / by : NAN;
}

void lag_of_running(size_t channels, const struct running *running, const struct running_batch *fresh, double *mean_lag,
                    double *var_ratio)
{
    for (size_t c = 0; c < channels; c++) {
        mean_lag[c] = quotient((double)running->mean[c] - fresh->mean[c], sqrt(fresh->var[c]));
        var_ratio[c] = quotient((double)running->var[c], fresh->var[c]);
    }
}

void lag_mu_over_sigma(size_t channels, const struct running_batch *fresh, double *out)
{
    for (size_t c = 0; c < channels; c++)
        out[c] = quotient(fresh->mean[c], sqrt(fresh->var[c]));
}

void lag_drift(size_t channels, const struct running_batch *before, const struct running_batch *after, double *out)
{
    for (size_t c = 0; c < channels; c++)
        out[c] = quotient(fabs(after->mean[c] - before->mean[c]), sqrt(after->var[c]));
}

void lag_trace(const struct net *net, const bool *held, const struct running *running, const struct running_batch *batch, double *out)
{
    for (size_t i = 0; i < net->config.blocks; i++)
        for (size_t c = net->block[i].first_channel; c < net->block[i].first_channel + net->block[i].conv.cout; c++)
            out[c] = held[i] ? NAN : quotient((double)running->mean[c] - batch->mean[c], sqrt(batch->var[c]));
}

#include "bnsweep/measure/average.h"

#include <string.h>

enum status average_create(struct average *average, const struct net *net, double decay, const real *weights, size_t sets,
                           const struct running *running, struct arena *arena)
{
    average->decay = decay;
    average->weights = arena_array(arena, net->size, sizeof(real));
    average->running = arena_array(arena, sets, sizeof *average->running);
    if (!average->weights || !average->running)
        return STATUS_NOMEM;
    memcpy(average->weights, weights, net->size * sizeof(real));
    for (size_t m = 0; m < sets; m++) {
        enum status status = running_create(&average->running[m], net, running[m].momentum, arena);
        if (status)
            return status;
        memcpy(average->running[m].mean, running[m].mean, net->channels * sizeof(real));
        memcpy(average->running[m].var, running[m].var, net->channels * sizeof(real));
    }
    return STATUS_OK;
}

static void step_towards(size_t count, double decay, const real *current, real *average)
{
    real keep = (real)decay, take = (real)(1 - decay);
    for (size_t i = 0; i < count; i++)
        average[i] = keep * average[i] + take * current[i];
}

void average_update(struct average *average, const struct net *net, const real *weights, size_t sets, const struct running *running)
{
    step_towards(net->size, average->decay, weights, average->weights);
    for (size_t m = 0; m < sets; m++) {
        step_towards(net->channels, average->decay, running[m].mean, average->running[m].mean);
        step_towards(net->channels, average->decay, running[m].var, average->running[m].var);
    }
}

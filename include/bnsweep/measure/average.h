/* Exponential moving averages of the weights, each with the same average of every running statistic beside it:
 * average = decay average + (1 - decay) current, after each step, starting from the initial weights and statistics. */
#ifndef BNSWEEP_MEASURE_AVERAGE_H
#define BNSWEEP_MEASURE_AVERAGE_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/running.h"

/* One decay's averages; owned by the arena. */
struct average {
    double decay;
    real *weights;           /* [net->size] */
    struct running *running; /* [sets]: of each momentum's running statistics */
};

/* Make an average that starts at weights and running[sets]. STATUS_NOMEM. */
enum status average_create(struct average *average, const struct net *net, double decay, const real *weights, size_t sets,
                           const struct running *running, struct arena *arena);

/* Take one step towards weights and running[sets]. */
void average_update(struct average *average, const struct net *net, const real *weights, size_t sets, const struct running *running);

#endif

/* A check: everything that is measured at one step, for each momentum of the trajectory. */
#ifndef BNSWEEP_RUN_CHECK_H
#define BNSWEEP_RUN_CHECK_H

#include "bnsweep/base/arena.h"
#include "bnsweep/run/trajectory.h"

/* Make the workspace. STATUS_NOMEM. */
enum status check_create(struct trajectory *trajectory);

/* Take the probe batch's statistics before the step that ends at a check. */
void check_before_step(struct trajectory *trajectory);

/* Measure check number `index` at trajectory->step and send one record for each momentum. Weights are read; the running statistics
 * are written only where probe_writes_stats asks for it. */
enum status check_measure(struct trajectory *trajectory, uint64_t index);

/* The same for a trajectory that was not trained: its weights and running statistics are those at the check, and `stored`, a record of
 * GROUP_CHECK, is that of another momentum there, from which comes what all momenta have in common and weights alone do not give.
 * STATUS_MISMATCH where what they do give has other bits than stored, or where what is stored does not decide an order. */
enum status check_repeat(struct trajectory *trajectory, uint64_t index, const float *stored);

#endif

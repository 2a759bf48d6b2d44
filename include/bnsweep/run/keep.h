/* What a trajectory keeps (keep_batch_stats) so that units with other BN momenta can be computed from it without training: the
 * statistics of every step's batch, in the doubles that enter the running averages, and the weights at each check. */
#ifndef BNSWEEP_RUN_KEEP_H
#define BNSWEEP_RUN_KEEP_H

#include "bnsweep/run/trajectory.h"

/* Return whether a trajectory of these settings keeps them: it is asked to, and training never reads the running statistics
 * (identity_fusable), so that other momenta have these weights and batches too. */
bool keep_wanted(const struct plan *plan, enum norm_kind norm, enum freeze_stats_kind freeze_stats);

/* Make the workspace, and the axes in trajectory->extent, which are 0 where nothing is kept. STATUS_NOMEM. */
enum status keep_create(struct trajectory *trajectory);

/* Send the statistics of the batch of step trajectory->step + 1, whose forward pass is done, for momentum 0. What the sink returns. */
enum status keep_batch(struct trajectory *trajectory);

/* Send the weights at check number `check`, for momentum 0. What the sink returns. */
enum status keep_weights(struct trajectory *trajectory, uint64_t check);

#endif

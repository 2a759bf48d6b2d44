/* The parameter vectors that a store keeps: how long they are, and what stands where. */
#ifndef BNSWEEP_CLI_PARAMETERS_H
#define BNSWEEP_CLI_PARAMETERS_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/sweep.h"

enum { PARAMETERS_TEXT_SIZE = 8192 };

/* Find the longest parameter vector among the units that keep theirs (keep_batch_stats, and identity_fusable); `*count` is 0 where
 * none does. `text` receives where its tensors stand: a line "conv1.weight 0 [27][32]" each, place, rows and output channels.
 * STATUS_INPUT where it is too long for a record; errors of reading a data file's sizes. */
enum status parameters_survey(const struct sweep *sweep, size_t *count, char text[PARAMETERS_TEXT_SIZE]);

#endif

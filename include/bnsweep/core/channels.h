/* Sums over each output channel's weights, in double and in a fixed order: tensors are [length][channels], a channel a column. */
#ifndef BNSWEEP_CORE_CHANNELS_H
#define BNSWEEP_CORE_CHANNELS_H

#include "bnsweep/core/real.h"

#include <stddef.h>

/* out[channels] = the sum over length of a b, for a and b [length][channels]. */
void channels_dot(size_t length, size_t channels, const real *a, const real *b, double *out);

#endif

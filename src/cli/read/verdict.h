/* What would have caught it early: both modes' accuracies side by side, and how far the running statistics are off. */
#ifndef BNSWEEP_CLI_VERDICT_H
#define BNSWEEP_CLI_VERDICT_H

#include "history.h"

#include <stdio.h>

/* Print whether a unit's running statistics went stale (a gap between the modes of at least 5 points at a check where a running mean
 * is at least half a standard deviation off), when that could first be seen, and what re-estimating them gave. */
void verdict_print(const struct frame *frame, const struct history *history, FILE *out);

#endif

/* Learning-rate schedules: the rate of a step as a pure function of its number. */
#ifndef BNSWEEP_CORE_SCHEDULE_H
#define BNSWEEP_CORE_SCHEDULE_H

#include "bnsweep/core/kinds.h"

#include <stdint.h>

/* The formulas, with t counted from the end of the warm-up and T = steps - warmup:
 *   constant     lr
 *   cosine       min + (lr - min)/2 (1 + cos(pi t / T))                       (Loshchilov and Hutter 2017, one cycle)
 *   step         lr gamma^floor(t / interval)
 *   exponential  lr gamma^t
 *   one-cycle    cosine from lr/div up to lr over the first `peak` of the steps, then down to lr/(div final_div)
 *                (Smith and Topin 2018, as PyTorch's OneCycleLR with two phases)
 * During the first `warmup` steps: lr (step + 1) / warmup for every schedule (a one-cycle then starts from lr/div). */
struct schedule_config {
    enum schedule_kind kind;
    double lr;
    uint64_t steps, warmup;
    double min;                    /* cosine */
    uint64_t interval;             /* step */
    double gamma;                  /* step, exponential */
    double peak, div, final_div;   /* one-cycle */
};

/* Return the learning rate of step `step`, from 0 at the first step. */
double schedule_rate(const struct schedule_config *config, uint64_t step);

#endif

/* The last angle_window steps: what a check averages over, and the weights as they were when the window opened. */
#ifndef BNSWEEP_MEASURE_WINDOW_H
#define BNSWEEP_MEASURE_WINDOW_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/measure/plan.h"

#include <stdint.h>

/* Owned by the arena. The arrays are the whole state: row (step - 1) % length is step `step`'s. */
struct window {
    const struct net *net;
    struct plan plan;
    size_t length, conv_size, slots;
    double *loss;        /* [length] */
    double *cos_update;  /* [length][net->channels]; NaN: left out of the mean */
    double *cos_grad;    /* the same */
    real *snapshots;     /* [slots][conv_size]: weights at the step angle_window before check i, in slot i % slots */
};

/* STATUS_NOMEM. */
enum status window_create(struct window *window, const struct net *net, const struct plan *plan, struct arena *arena);

/* Take a snapshot of weights[net->size] where a check comes angle_window steps after step `step`; called at step 0 too. */
void window_snapshot(struct window *window, uint64_t step, const real *weights);

/* Enter what step `step` (from 1) had: its loss in nats, and where to write its cosines, [net->channels] each. */
void window_enter(struct window *window, uint64_t step, double loss, double **cos_update, double **cos_grad);

/* Return the mean loss over the window that ends at the last step entered (which lies at or after angle_window). */
double window_loss(const struct window *window, uint64_t step);
/* mean[channels] of cos_update or cos_grad over the window, oldest step first; NaN where no step counts. */
void window_mean(const struct window *window, uint64_t step, const double *cosines, double *mean);

/* Return the snapshot for check number `check`, as geometry_angle takes it. */
const real *window_opening(const struct window *window, uint64_t check);

#endif

/* What a unit's checks come to, one number each: the measures of the table. */
#ifndef BNSWEEP_CLI_SUMMARY_H
#define BNSWEEP_CLI_SUMMARY_H

#include "frame.h"

/* X(name, heading, factor for people, digits after the point, unit behind it, meaning). "Last layer": the last convolution's
 * channels, averaged. */
#define SUMMARY(X)                                                                                                        \
    X(rotation, "rotation/100 steps", 1, 2, "°", "last layer's angle scaled to 100 steps, mean over checks")            \
    X(norm_growth, "norm growth", 1, 2, "×", "last layer's norm / norm_init at the last check")                         \
    X(acc_eval, "evaluation", 100, 1, "%", "evaluation-mode accuracy, mean over checks")                                \
    X(checks_below_90, "checks < 90%", 100, 0, "%", "share of checks with acc_eval below 0.9")                          \
    X(acc_train, "training mode", 100, 1, "%", "training-mode accuracy, mean over checks")                              \
    X(acc_reest, "re-estimated", 100, 1, "%", "accuracy after re-estimation, at the last check where it was measured")

enum summary_id {
#define X(name, heading, factor, digits, unit, meaning) SUMMARY_##name,
    SUMMARY(X)
#undef X
        SUMMARY_COUNT
};

struct summary {
    const char *name, *heading;
    double factor;
    int digits;
    const char *unit, *meaning;
};
extern const struct summary summary_table[SUMMARY_COUNT];

/* Below this evaluation-mode accuracy a check counts as failed. */
#define SUMMARY_FAILING 0.9f

/* Compute the measures of all units: out[frame->rows][SUMMARY_COUNT], NaN where nothing was measured. Whole blocks of rows are
 * read at once. STATUS_CORRUPT, STATUS_NOMEM. */
enum status summary_read(const struct frame *frame, double (*out)[SUMMARY_COUNT]);

/* Return the factor that scales a row's angles to 100 steps. */
double summary_angle_factor(const struct frame *frame, size_t row);

/* Return the mean over the last convolution's channels of `values` [channels], divided by `by` [channels] unless that is NULL;
 * NaN values are passed over, and where there is no other, so is the result. */
double summary_last_layer(const struct frame *frame, const float *values, const float *by);

#endif

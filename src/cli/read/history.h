/* One unit's checks, what matters of each. */
#ifndef BNSWEEP_CLI_HISTORY_H
#define BNSWEEP_CLI_HISTORY_H

#include "frame.h"

/* NaN: not measured. */
struct history_check {
    int64_t step;
    double lr, loss, acc_train, acc_eval, reest;
    double rotation;   /* degrees in 100 steps, mean over the last convolution's channels */
    double growth;     /* norm / norm_init, mean over the same */
    double lag;        /* mean_lag of the channel where it is largest in magnitude */
    double var_ratio;  /* of the channel where it is farthest from 1, as a ratio */
    size_t lag_channel, var_channel;
};

/* Zero-initialise; free with history_free. */
struct history {
    struct history_check *checks; /* [count] owned */
    size_t count;
};

/* Read a unit's checks as published, also those not made. The caller frees `out` also on failure. STATUS_CORRUPT, STATUS_NOMEM. */
enum status history_read(const struct frame *frame, size_t row, struct history *out);

void history_free(struct history *history);

#endif

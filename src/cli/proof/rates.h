/* The learning rates that the optimizer had at the checks, against what the units' settings say. */
#ifndef BNSWEEP_CLI_RATES_H
#define BNSWEEP_CLI_RATES_H

#include "proof.h"

struct rates {
    uint64_t units, compared, errors; /* done units; their checks; units with a rate that is not the schedule's */
};

/* Compare lr_applied at every check of every done unit with the schedule's rate of the step that ends there.
 * STATUS_CORRUPT, STATUS_NOMEM; findings are none. */
enum status rates_check(const struct frame *frame, const struct proof_listener *listener, struct rates *out);

#endif

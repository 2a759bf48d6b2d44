/* A training step taken apart: the same calls as trajectory_step, with the time of each. */
#ifndef BNSWEEP_CLI_PHASES_H
#define BNSWEEP_CLI_PHASES_H

#include "bnsweep/base/status.h"
#include "bnsweep/run/trajectory.h"

/* X(NAME, key, text): in a step's order. */
#define PHASES(X)                                                                 \
    X(DATA, "data", "data generation")                                            \
    X(FORWARD, "forward", "forward")                                              \
    X(TRACE, "trace", "lag trace")                                                \
    X(RUNNING, "running", "running statistics")                                   \
    X(BACKWARD, "backward", "backward")                                           \
    X(OPTIMIZER, "optimizer", "optimizer")                                        \
    X(COSINES, "cosines", "cosines of update and gradient")                       \
    X(WEIGHTS, "weights", "weights and their averages")

/* X(NAME, key, pass): what is asked of a convolution engine. */
#define PHASES_CONV(X)                                        \
    X(FORWARD, "forward", FORWARD)                            \
    X(BACKWARD_WEIGHTS, "backward_weights", BACKWARD)         \
    X(BACKWARD_DATA, "backward_data", BACKWARD)

enum phase {
#define X(name, key, text) PHASE_##name,
    PHASES(X)
#undef X
        PHASE_COUNT
};
enum phase_conv {
#define X(name, key, pass) PHASE_CONV_##name,
    PHASES_CONV(X)
#undef X
        PHASE_CONV_COUNT
};

struct phases_row {
    const char *key, *text;
};
extern const struct phases_row phases_table[PHASE_COUNT];
extern const char *const phases_conv_keys[PHASE_CONV_COUNT];
/* The phase a convolution's time is part of: PHASE_FORWARD or PHASE_BACKWARD. */
extern const enum phase phases_conv_pass[PHASE_CONV_COUNT];

/* This thread's processor seconds, summed over the steps; zero-initialise. */
struct phases {
    size_t steps;
    double seconds[PHASE_COUNT], whole;              /* whole is a little more than the sum of all */
    double conv[NET_MAX_BLOCKS][PHASE_CONV_COUNT];   /* within FORWARD and BACKWARD */
};

/* Take one step as trajectory_step does where no check is due, and add its times. `ahead` is the same trajectory, just stepped by
 * trajectory_step: what is frozen now is read there. Errors as trajectory_step. */
enum status phases_step(struct trajectory *trajectory, const struct trajectory *ahead, struct phases *phases);

/* Return the seconds of all convolutions within PHASE_FORWARD or PHASE_BACKWARD. */
double phases_conv_seconds(const struct phases *phases, enum phase pass);

/* Return whole less the sum of all phases: the clock itself, and what decides whether a trace is due. */
double phases_rest(const struct phases *phases);

#endif

/* Every measured variable, once: this table drives records, the store, its readers and its documentation. */
#ifndef BNSWEEP_MEASURE_VARIABLES_H
#define BNSWEEP_MEASURE_VARIABLES_H

#include <stddef.h>

#include <stdbool.h>

/* Along what a variable repeats besides `unit`: once a unit, at every check, at every trace sample. The last two are kept by
 * keep_batch_stats, once a trajectory, in the row of its first unit: at every step (in double), at every check. */
enum variable_group { GROUP_UNIT, GROUP_CHECK, GROUP_TRACE, GROUP_STEP, GROUP_WEIGHTS, GROUP_COUNT };

/* The axes behind unit (and check or sample). ORDER_K is two axes: order, k (k fastest). */
enum variable_dims { DIMS_NONE, DIMS_CHANNEL, DIMS_LAYER, DIMS_REEST, DIMS_ORDER_K, DIMS_EMA, DIMS_PARAMETER };

/* X(name, group, dims, units, long_name); the order is the order in a record, append at the end of a group only. */
#define VARIABLES(X)                                                                                                        \
    X(norm_init, UNIT, CHANNEL, "1", "L2 norm of the channel's weights at step 0")                                          \
    X(loss, CHECK, NONE, "nat", "mean training loss over the last angle_window steps")                                      \
    X(lr_applied, CHECK, NONE, "1", "learning rate of the step that ends at the check, read from the optimizer")            \
    X(acc_train, CHECK, NONE, "1", "accuracy on the validation set in training mode, all of it as one batch")               \
    X(val_loss_train, CHECK, NONE, "nat", "loss on the validation set in training mode, all of it as one batch")            \
    X(acc_eval, CHECK, NONE, "1", "accuracy on the validation set in evaluation mode")                                      \
    X(val_loss_eval, CHECK, NONE, "nat", "loss on the validation set in evaluation mode")                                   \
    X(angle, CHECK, CHANNEL, "degree", "angle the channel's weight vector turned over the last angle_window steps")         \
    X(norm, CHECK, CHANNEL, "1", "L2 norm of the channel's weights")                                                        \
    X(cos_update, CHECK, CHANNEL, "1", "mean over the last angle_window steps of the cosine of update and weights")         \
    X(cos_grad, CHECK, CHANNEL, "1", "mean over the last angle_window steps of the cosine of gradient and weights")         \
    X(running_mean, CHECK, CHANNEL, "1", "running mean as stored by the layer")                                             \
    X(running_var, CHECK, CHANNEL, "1", "running variance as stored by the layer")                                          \
    X(mean_lag, CHECK, CHANNEL, "sigma", "(running mean - fresh mean) / fresh standard deviation")                          \
    X(var_ratio, CHECK, CHANNEL, "1", "running variance / fresh variance")                                                  \
    X(mu_over_sigma, CHECK, CHANNEL, "1", "fresh mean / fresh standard deviation")                                          \
    X(drift, CHECK, CHANNEL, "sigma/step", "change of the probe batch's mean over the step that ends at the check")         \
    X(acc_reest, CHECK, REEST, "1", "evaluation accuracy after re-estimating the running statistics")                       \
    X(acc_swap_layer, CHECK, LAYER, "1", "evaluation accuracy with one layer's statistics replaced by fresh ones")          \
    X(acc_swap_top, CHECK, ORDER_K, "1", "evaluation accuracy with the first k channels' statistics replaced by fresh ones") \
    X(acc_ema, CHECK, EMA, "1", "evaluation accuracy of averaged weights with their own averaged running statistics")       \
    X(acc_ema_raw, CHECK, EMA, "1", "evaluation accuracy of averaged weights with the raw model's running statistics")      \
    X(acc_ema_reest, CHECK, EMA, "1", "evaluation accuracy of averaged weights after re-estimation")                        \
    X(lag_trace, TRACE, CHANNEL, "sigma", "(running mean before the update - batch mean) / batch standard deviation")       \
    X(batch_mean, STEP, CHANNEL, "1", "mean of the step's batch, as it enters the running mean; kept once a trajectory")    \
    X(batch_var, STEP, CHANNEL, "1", "biased variance of the step's batch; kept once a trajectory")                         \
    X(weights, WEIGHTS, PARAMETER, "1", "all parameters, laid out as the attribute parameters says; kept once a trajectory")

enum variable_id {
#define X(name, group, dims, units, long_name) VARIABLE_##name,
    VARIABLES(X)
#undef X
        VARIABLE_COUNT
};

struct variable {
    const char *name;
    enum variable_group group;
    enum variable_dims dims;
    const char *units, *long_name;
};

/* One entry for each enum variable_id, in that order. */
extern const struct variable variables_table[VARIABLE_COUNT];

/* The lengths of the axes. */
struct variables_extent {
    size_t checks, samples, channels, layers, reests, orders, ks, emas;
    size_t steps, parameters; /* 0 where nothing is kept */
};

/* Return whether the group is kept once a trajectory; else every unit has it. */
bool variables_kept(enum variable_group group);

/* Return whether the group's values are doubles in records and in the store; else floats. */
bool variables_double(enum variable_group group);

/* Return how many values the variable has at one unit, check or sample. */
size_t variables_size(enum variable_id id, const struct variables_extent *extent);

/* Return where the variable starts in its group's record, in values. */
size_t variables_offset(enum variable_id id, const struct variables_extent *extent);

/* Return how many values a record of the group holds: all its variables in the table's order. */
size_t variables_record_size(enum variable_group group, const struct variables_extent *extent);

/* Return how many records of the group a unit has: 1, checks, samples or steps. */
size_t variables_record_count(enum variable_group group, const struct variables_extent *extent);

#endif

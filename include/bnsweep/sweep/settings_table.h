/* Every setting, once: this table makes `struct settings`, its parsing, writing, range checks, identity and documentation.
 * Macros only; include settings.h to use them. */
#ifndef BNSWEEP_SWEEP_SETTINGS_TABLE_H
#define BNSWEEP_SWEEP_SETTINGS_TABLE_H

/* X(NAME, expression over `s`, text): when a setting is read at all. */
#define SETTINGS_CONDITIONS(X)                                                                                             \
    X(ALWAYS, true, "")                                                                                                    \
    X(TEMPLATES, s->data == DATA_TEMPLATES, "data = templates")                                                            \
    X(FILE, s->data == DATA_FILE, "data = file")                                                                           \
    X(INIT, strcmp(s->init, "default") != 0, "init names a file")                                                          \
    X(GROUP, s->norm == NORM_GROUP, "norm = group")                                                                        \
    X(NORM, s->norm != NORM_NONE, "norm is not none")                                                                      \
    X(RUNNING, s->norm == NORM_BATCH || s->norm == NORM_BATCHRENORM, "norm = batch or batchrenorm")                        \
    X(RENORM, s->norm == NORM_BATCHRENORM, "norm = batchrenorm")                                                           \
    X(SGD, s->optimizer == OPTIM_SGD, "optimizer = sgd")                                                                   \
    X(ADAM, s->optimizer == OPTIM_ADAM || s->optimizer == OPTIM_ADAMW || s->optimizer == OPTIM_ADAMP,                      \
      "optimizer = adam, adamw or adamp")                                                                                  \
    X(FROZEN, s->freeze != 0, "freeze is not none")                                                                        \
    X(FROZEN_STATS,                                                                                                        \
      (s->freeze & ~(int64_t)SETTINGS_FREEZE_LINEAR) != 0 && (s->norm == NORM_BATCH || s->norm == NORM_BATCHRENORM),       \
      "freeze names a convolution and norm = batch or batchrenorm")                                                        \
    X(STEP, s->schedule == SCHEDULE_STEP, "schedule = step")                                                               \
    X(GAMMA, s->schedule == SCHEDULE_STEP || s->schedule == SCHEDULE_EXPONENTIAL, "schedule = step or exponential")        \
    X(COSINE, s->schedule == SCHEDULE_COSINE, "schedule = cosine")                                                         \
    X(ONECYCLE, s->schedule == SCHEDULE_ONECYCLE, "schedule = one-cycle")                                                  \
    X(REEST, s->reest != WHEN_NEVER || s->ema != WHEN_NEVER, "reest or ema is not never")                                  \
    X(EMA, s->ema != WHEN_NEVER, "ema is not never")

/* X(section, type, key, default or REQUIRED, range, condition, changes a number?, help)
 * Identities follow this table: a row may be added anywhere; never reorder, rename or change a default without raising
 * IDENTITY_NUMERICS_VERSION. DERIVED rows are computed (hashes of files) and cannot be set. */
#define SETTINGS(X)                                                                                                        \
    X(SWEEP, NAME, name, REQUIRED, TEXT("letters, digits and . _ -"), ALWAYS, false, "the sweep's name")                   \
    X(TASK, CHOICE, data, "templates", ONE_OF(DATA, data), ALWAYS, true, "where images come from")                         \
    X(TASK, REAL, noise, "1", AT_LEAST(0), TEMPLATES, true, "standard deviation of the noise added to a template")         \
    X(TASK, REAL, signal, "0.6", AT_LEAST(0), TEMPLATES, true, "factor of the template in an image")                       \
    X(TASK, INT, classes, "10", BETWEEN(2, 10000), TEMPLATES, true, "number of classes")                                   \
    X(TASK, INT, image, "32", BETWEEN(2, 4096), TEMPLATES, true, "height and width of an image, pixels")                   \
    X(TASK, INT, image_channels, "3", BETWEEN(1, 1024), TEMPLATES, true, "channels of an image")                           \
    X(TASK, PATH, file, REQUIRED, TEXT("a file's path"), FILE, false, "HDF5 file with train_x, train_y, val_x, val_y")     \
    X(TASK, CHOICE, order, "sequential", ONE_OF(ORDER, order), FILE, true, "order of the training images")                 \
    X(TASK, SEED, task_seed, "per-seed", BETWEEN(0, 4294967295), TEMPLATES, true,                                          \
      "seed of templates and validation set; per-seed: the unit's seed")                                                   \
    X(NETWORK, CHANNELS, channels, "32-64-64", BETWEEN(1, 4096), ALWAYS, true, "output channels of each block")            \
    X(NETWORK, CHOICE, norm, "batch", ONE_OF(NORM, norm), ALWAYS, true, "normalisation layer")                             \
    X(NETWORK, INT, groups, "8", BETWEEN(1, 4096), GROUP, true, "groups of a group norm; divides every channel count")     \
    X(NETWORK, REAL, eps, "1e-5", ABOVE(0), NORM, true, "added to the variance")                                           \
    X(NETWORK, BOOL, conv_bias, "no", YES_NO, ALWAYS, true, "convolutions have a bias")                                    \
    X(NETWORK, PATH, init, "default", TEXT("default, or a file's path"), ALWAYS, false,                                    \
      "first weights: PyTorch's default, or an HDF5 file")                                                                 \
    X(NETWORK, REAL, renorm_rmax, "3", AT_LEAST(1), RENORM, true, "last limit of r")                                       \
    X(NETWORK, REAL, renorm_dmax, "5", AT_LEAST(0), RENORM, true, "last limit of d")                                       \
    X(NETWORK, INT, renorm_warmup, "5000", BETWEEN(0, 1000000000), RENORM, true, "steps with r = 1 and d = 0")             \
    X(NETWORK, INT, renorm_rmax_step, "40000", BETWEEN(0, 1000000000), RENORM, true, "step at which r reaches its limit")  \
    X(NETWORK, INT, renorm_dmax_step, "25000", BETWEEN(0, 1000000000), RENORM, true, "step at which d reaches its limit")  \
    X(TRAIN, INT, seed, "0", BETWEEN(0, 4294967295), ALWAYS, true, "seed of every random stream")                          \
    X(TRAIN, INT, steps, REQUIRED, BETWEEN(1, 1000000000), ALWAYS, true, "training steps")                                 \
    X(TRAIN, INT, batch, "128", BETWEEN(1, 1000000), ALWAYS, true, "images a step")                                        \
    X(TRAIN, CHOICE, optimizer, REQUIRED, ONE_OF(OPTIM, optim), ALWAYS, true, "update rule")                               \
    X(TRAIN, REAL, lr, REQUIRED, AT_LEAST(0), ALWAYS, true, "learning rate, the schedule's largest")                       \
    X(TRAIN, REAL, momentum, "0", FROM_BELOW(0, 1), SGD, true, "SGD's momentum")                                           \
    X(TRAIN, BOOL, nesterov, "no", YES_NO, SGD, true, "Nesterov's form of momentum")                                       \
    X(TRAIN, REAL, beta1, "0.9", FROM_BELOW(0, 1), ADAM, true, "decay of the gradient's average")                          \
    X(TRAIN, REAL, beta2, "0.999", FROM_BELOW(0, 1), ADAM, true, "decay of the squared gradient's average")                \
    X(TRAIN, REAL, opt_eps, "1e-8", AT_LEAST(0), ADAM, true, "added to the root in the denominator")                       \
    X(TRAIN, REAL, weight_decay, "0", AT_LEAST(0), ALWAYS, true,                                                           \
      "decoupled with adamw and adamp, else L2; no default with adamw")                                                    \
    X(TRAIN, CHOICE, radial, "keep", ONE_OF(RADIAL, radial), ALWAYS, true, "project: updates lose their radial part")      \
    X(TRAIN, REAL, bn_momentum, "0.1", ABOVE_TO(0, 1), RUNNING, true, "weight of the new batch in the running statistics") \
    X(TRAIN, FREEZE, freeze, "none", TEXT("none, or of conv1..convN and linear, joined by dashes"), ALWAYS, true,          \
      "layers not trained; convN is block N with its norm layer")                                                          \
    X(TRAIN, INT, freeze_from, "0", BETWEEN(0, 1000000000), FROZEN, true, "step from which the freeze holds")              \
    X(TRAIN, CHOICE, freeze_stats, "live", ONE_OF(FREEZE_STATS, freeze_stats), FROZEN_STATS, true,                         \
      "running statistics of frozen blocks")                                                                               \
    X(TRAIN, CHOICE, schedule, "constant", ONE_OF(SCHEDULE, schedule), ALWAYS, true, "learning-rate schedule")             \
    X(TRAIN, INT, warmup, "0", BETWEEN(0, 1000000000), ALWAYS, true, "steps of linear warm-up before the schedule")        \
    X(TRAIN, INT, lr_interval, REQUIRED, BETWEEN(1, 1000000000), STEP, true, "steps between two drops")                    \
    X(TRAIN, REAL, lr_gamma, "0.1", ABOVE(0), GAMMA, true, "factor of a drop (step) or of each step (exponential)")        \
    X(TRAIN, REAL, lr_min, "0", AT_LEAST(0), COSINE, true, "learning rate at the cosine's end")                            \
    X(TRAIN, REAL, cycle_peak, "0.3", BETWEEN_OPEN(0, 1), ONECYCLE, true, "fraction of the steps before the peak")         \
    X(TRAIN, REAL, cycle_div, "25", ABOVE(0), ONECYCLE, true, "lr / first learning rate")                                  \
    X(TRAIN, REAL, cycle_final_div, "1e4", ABOVE(0), ONECYCLE, true, "first / last learning rate")                         \
    X(MEASURE, INT, first_check, "2000", BETWEEN(1, 1000000000), ALWAYS, true, "step of the first check")                  \
    X(MEASURE, INT, check_every, "100", BETWEEN(1, 1000000000), ALWAYS, true, "steps between two checks")                  \
    X(MEASURE, INT, angle_window, "100", BETWEEN(1, 1000000), ALWAYS, true, "steps an angle or a mean spans")              \
    X(MEASURE, INT, val_size, "4000", BETWEEN(2, 10000000), ALWAYS, true, "validation images")                             \
    X(MEASURE, INT, trace_every, "10", BETWEEN(0, 1000000000), ALWAYS, true, "steps between two lag samples; 0: none")     \
    X(MEASURE, INT, probe_size, "512", BETWEEN(2, 10000000), ALWAYS, true,                                                 \
      "validation images of the drift probe; where not set, val_size if that is smaller")                                  \
    X(MEASURE, BOOL, probe_writes_stats, "no", YES_NO, ALWAYS, true, "reproduce the probe that writes running statistics") \
    X(MEASURE, CHOICE, reest, "last", ONE_OF(WHEN, when), ALWAYS, true, "when statistics are re-estimated")                \
    X(MEASURE, INTS, reest_batches, "200", BETWEEN(1, 1000000), REEST, true, "training batches of re-estimations: a list") \
    X(MEASURE, CHOICE, swap_layer, "never", ONE_OF(WHEN, when), ALWAYS, true, "when single layers' statistics are swapped") \
    X(MEASURE, CHOICE, swap_top, "never", ONE_OF(WHEN, when), ALWAYS, true, "when the first k channels are swapped")       \
    X(MEASURE, CHOICE, ema, "never", ONE_OF(WHEN, when), ALWAYS, true, "when weight averages are evaluated")               \
    X(MEASURE, REALS, ema_decays, "0.999", BETWEEN_OPEN(0, 1), EMA, true, "decays of the weight averages: a list")         \
    X(MEASURE, BOOL, keep_batch_stats, "no", YES_NO, ALWAYS, false,                                                        \
      "store each step's batch statistics and the weights at checks: new bn_momentum values then need no training")        \
    X(DERIVED, DIGEST, file_hash, "", TEXT("32 hexadecimal digits"), FILE, true, "hash of the data file's bytes")          \
    X(DERIVED, DIGEST, init_hash, "", TEXT("32 hexadecimal digits"), INIT, true, "hash of the init file's bytes")

/* X(NAME, printable name) */
#define SETTINGS_TYPES(X)                        \
    X(INT, "whole number")                       \
    X(REAL, "number")                            \
    X(BOOL, "yes or no")                         \
    X(CHOICE, "choice")                          \
    X(NAME, "name")                              \
    X(PATH, "path")                              \
    X(SEED, "per-seed or whole number")          \
    X(FREEZE, "layers joined by dashes")         \
    X(CHANNELS, "whole numbers joined by dashes") \
    X(INTS, "list of whole numbers")             \
    X(REALS, "list of numbers")                  \
    X(DIGEST, "hash")

#define SETTINGS_SECTIONS(X) \
    X(SWEEP, "sweep")        \
    X(TASK, "task")          \
    X(NETWORK, "network")    \
    X(TRAIN, "train")        \
    X(MEASURE, "measure")    \
    X(DERIVED, "derived")

#endif

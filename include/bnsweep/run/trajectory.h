/* One training run and its measurements. Units that differ only in BN momentum share it: one set of running averages each. */
#ifndef BNSWEEP_RUN_TRAJECTORY_H
#define BNSWEEP_RUN_TRAJECTORY_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/infer.h"
#include "bnsweep/core/init.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/optim.h"
#include "bnsweep/core/pass.h"
#include "bnsweep/core/schedule.h"
#include "bnsweep/core/task.h"
#include "bnsweep/measure/average.h"
#include "bnsweep/measure/plan.h"
#include "bnsweep/measure/window.h"

#include <stdint.h>

enum { TRAJECTORY_MAX_MOMENTA = 64 };

struct trajectory_config {
    struct net_config net;
    struct optim_config optim;
    struct schedule_config schedule;
    struct task_config task;
    struct plan plan;
    uint32_t seed;
    size_t momenta_count; /* 1 where norms keep no running statistics, or training reads them */
    double momenta[TRAJECTORY_MAX_MOMENTA];
    bool frozen[NET_MAX_BLOCKS + 1]; /* a block; the last used one, [net.blocks], is the classifier */
    uint64_t freeze_from;            /* the first step at which the freeze holds, from 0 */
    enum freeze_stats_kind freeze_stats;
    size_t init_count;               /* 0: default initialisation */
    const struct init_tensor *init;  /* not owned; needed by trajectory_create only */
};

/* Where measured values go: all variables of `group` at check or sample `index`, in the order of variables_offset, for momentum
 * number `unit`. `values` is valid during the call. A status other than OK ends the run with it. */
struct trajectory_sink {
    void *context;
    enum status (*values)(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count);
};

/* All fields are the trajectory's own, in one arena; open for reading by measurements and tests. */
struct trajectory {
    struct arena arena;
    struct trajectory_config config;
    struct trajectory_sink sink;
    struct net net;
    struct variables_extent extent;
    struct task task;
    struct pass pass;
    struct infer infer;
    struct optim optim;
    struct window window;
    uint64_t step;  /* steps done */
    double seconds; /* spent on them, over all attempts; the caller counts it */
    real *weights, *gradient, *update; /* [net.size] */
    struct running *running;           /* [momenta_count] */
    struct average *averages;          /* [extent.emas] */
    bool held[NET_MAX_BLOCKS], frozen_now[NET_MAX_BLOCKS + 1];
    double *norm_init;                 /* [net.channels] */
    double *kept;                      /* workspace of run/keep.c; NULL where nothing is kept */
    struct hash weights_init;
    /* workspace of a check */
    double *record, *channel_values;
    struct running_batch fresh, probe_before, probe_after, sums;
    struct batchnorm_transform training, fresh_transform, mixed;
    struct batchnorm_transform *evaluations;            /* [momenta_count] */
    struct infer_score scores[TRAJECTORY_MAX_MOMENTA]; /* with each momentum's statistics */
    struct running reestimated;
    double *reestimated_accuracy, *reestimated_ema; /* [extent.reests], [extent.emas] of the check under way: the same for every */
    bool reestimated_known, ema_known;              /* momentum, so computed once */
    uint32_t *order;
};

/* Build the network, its data and its initial state, and send norm_init to the sink. Free with trajectory_free, also after failure.
 * STATUS_NOMEM, STATUS_SHAPE, STATUS_INPUT, and what the sink returns. */
enum status trajectory_create(struct trajectory **out, const struct trajectory_config *config, const struct trajectory_sink *sink);
void trajectory_free(struct trajectory *trajectory);

/* Train one step, and measure and send what is due at it. STATUS_DIVERGED where the loss is not finite (the step is then not taken);
 * STATUS_SHAPE for a batch norm with one value a channel; what the sink returns. */
enum status trajectory_step(struct trajectory *trajectory);

/* Have the running statistics of every momentum take in the statistics of the batch of the coming step, in trajectory->pass.batch, and
 * send the trace sample that is due before. What the sink returns. */
enum status trajectory_take_batch(struct trajectory *trajectory);

/* Return the hash of the weights now, and of one momentum's running statistics (all zero where there are none). */
struct hash trajectory_weights_hash(const struct trajectory *trajectory);
struct hash trajectory_statistics_hash(const struct trajectory *trajectory, size_t unit);

#endif

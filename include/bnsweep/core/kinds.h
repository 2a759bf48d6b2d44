/* The choices that settings offer, each list once: the number in the code and the name in files. */
#ifndef BNSWEEP_CORE_KINDS_H
#define BNSWEEP_CORE_KINDS_H

#define KINDS_NORM(X) X(BATCH, "batch") X(GROUP, "group") X(LAYER, "layer") X(BATCHRENORM, "batchrenorm") X(NONE, "none")
#define KINDS_OPTIM(X) X(SGD, "sgd") X(ADAM, "adam") X(ADAMW, "adamw") X(ADAMP, "adamp")
#define KINDS_SCHEDULE(X) \
    X(CONSTANT, "constant") X(COSINE, "cosine") X(STEP, "step") X(EXPONENTIAL, "exponential") X(ONECYCLE, "one-cycle")
#define KINDS_RADIAL(X) X(KEEP, "keep") X(PROJECT, "project")
#define KINDS_DATA(X) X(TEMPLATES, "templates") X(FILE, "file")
#define KINDS_ORDER(X) X(SEQUENTIAL, "sequential") X(SHUFFLED, "shuffled")
/* A frozen block's norm layer: live keeps writing its running statistics, held stays in evaluation mode. */
#define KINDS_FREEZE_STATS(X) X(LIVE, "live") X(HELD, "held")
/* When a costly measurement is made; failing: at checks with acc_eval below 0.9. */
#define KINDS_WHEN(X) X(NEVER, "never") X(LAST, "last") X(FAILING, "failing") X(ALWAYS, "always")

#define KINDS_ALL(Y)                                                                                                  \
    Y(NORM, norm) Y(OPTIM, optim) Y(SCHEDULE, schedule) Y(RADIAL, radial) Y(DATA, data) Y(ORDER, order)               \
    Y(FREEZE_STATS, freeze_stats) Y(WHEN, when)

/* enum norm_kind { NORM_BATCH, ..., NORM_KIND_COUNT } and so on; kinds_norm_names[NORM_BATCH] is "batch". */
#define X_NORM(name, text) NORM_##name,
#define X_OPTIM(name, text) OPTIM_##name,
#define X_SCHEDULE(name, text) SCHEDULE_##name,
#define X_RADIAL(name, text) RADIAL_##name,
#define X_DATA(name, text) DATA_##name,
#define X_ORDER(name, text) ORDER_##name,
#define X_FREEZE_STATS(name, text) FREEZE_STATS_##name,
#define X_WHEN(name, text) WHEN_##name,
#define Y(upper, lower)                                               \
    enum lower##_kind { KINDS_##upper(X_##upper) upper##_KIND_COUNT }; \
    extern const char *const kinds_##lower##_names[upper##_KIND_COUNT];
KINDS_ALL(Y)
#undef Y
#undef X_NORM
#undef X_OPTIM
#undef X_SCHEDULE
#undef X_RADIAL
#undef X_DATA
#undef X_ORDER
#undef X_FREEZE_STATS
#undef X_WHEN

#endif

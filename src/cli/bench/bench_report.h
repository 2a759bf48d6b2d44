/* The figures of a benchmark, as text or JSON. */
#ifndef BNSWEEP_CLI_BENCH_REPORT_H
#define BNSWEEP_CLI_BENCH_REPORT_H

#include "phases.h"
#include "stopwatch.h"

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/settings.h"

/* X(NAME, key, text): what a check does with the validation set; a further momentum shares the first convolution's output. */
#define BENCH_CHECK(X)                                                                  \
    X(TRAINING, "training_mode", "fresh statistics, training mode")                     \
    X(EVALUATION, "evaluation_mode", "evaluation mode, one BN momentum")                \
    X(FURTHER, "further_momentum", "evaluation mode, each further one")

enum bench_check {
#define X(name, key, text) BENCH_CHECK_##name,
    BENCH_CHECK(X)
#undef X
        BENCH_CHECK_COUNT
};

/* Seconds; `cpu` is the processor time of the one thread. */
struct bench_report {
    const struct settings *settings; /* not owned */
    const struct net *net;           /* not owned */
    size_t steps;                    /* timed, each once whole and once in phases */
    struct stopwatch_spread cpu, wall; /* of a whole step */
    struct phases phases;
    size_t checks;
    struct stopwatch_spread check[BENCH_CHECK_COUNT]; /* processor time */
    double fma, triad;               /* operations and bytes a second */
    double memory;                   /* bytes resident at most, while one trajectory trained and was checked */
};

/* STATUS_NOMEM where the JSON could not be made. */
enum status bench_report_json(const struct bench_report *report);
void bench_report_text(const struct bench_report *report);

#endif

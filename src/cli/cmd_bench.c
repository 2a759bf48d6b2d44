/* bnsweep bench: how fast this machine trains, phase by phase, beside what it can do at most. */
#include "commands.h"
#include "bench/bench_report.h"
#include "bench/bench_settings.h"
#include "bench/peak.h"
#include "text/options.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/run/configure.h"

#include <math.h>
#include <stdio.h>

#define PEAK_SECONDS 0.1
enum { WARM_UP = 2, LEAST_STEPS = 3, MOST_STEPS = 1000, MOST_CHECKS = 100, FURTHER = 3 /* BN momenta */ };

/* One trajectory is stepped as a worker does it, a second the same steps in phases: in turns, so that both see the same machine. */
struct bench {
    struct settings settings;
    struct trajectory_config config;
    struct trajectory *whole, *parts;
    struct bench_report report;
};

static enum status ignore(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    (void)context, (void)unit, (void)group, (void)index, (void)values, (void)count;
    return STATUS_OK;
}

static enum status create(const struct bench *bench, struct trajectory **out)
{
    const struct trajectory_sink sink = {NULL, ignore};
    return trajectory_create(out, &bench->config, &sink);
}

/* Return the bytes this process had resident at most; 0 where the system does not say. */
static double resident_at_most(void)
{
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

/* Processor seconds to score the set with `count` transforms, all the training mode's: the work does not depend on their values. */
static double score_seconds(struct trajectory *t, size_t count, const struct infer_set *set)
{
    const struct batchnorm_transform *transforms[1 + FURTHER] = {&t->training, &t->training, &t->training, &t->training};
    struct infer_score scores[1 + FURTHER];
    double start = stopwatch_now().cpu;
    infer_evaluate_all(&t->infer, t->weights, count, transforms, set, scores);
    return stopwatch_now().cpu - start;
}

/* One check's parts, in its order. */
static void check_once(struct trajectory *t, double seconds[BENCH_CHECK_COUNT])
{
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    struct infer_set set = {t->config.task.val_size, t->task.val_x, t->task.val_y};
    double start = stopwatch_now().cpu;
    struct infer_score score;
    infer_statistics(&t->infer, &mode, t->weights, &set, &t->fresh, &t->training, &score);
    seconds[BENCH_CHECK_TRAINING] = stopwatch_now().cpu - start;
    seconds[BENCH_CHECK_EVALUATION] = score_seconds(t, 1, &set);
    seconds[BENCH_CHECK_FURTHER] = fmax(score_seconds(t, 1 + FURTHER, &set) - seconds[BENCH_CHECK_EVALUATION], 0) / FURTHER;
}

static void measure_checks(struct bench *bench, double seconds)
{
    double taken[BENCH_CHECK_COUNT][MOST_CHECKS], started = stopwatch_now().wall;
    size_t count = 0;
    while (count == 0 || (count < MOST_CHECKS && stopwatch_now().wall - started < seconds)) {
        double one[BENCH_CHECK_COUNT];
        check_once(bench->whole, one);
        for (int i = 0; i < BENCH_CHECK_COUNT; i++)
            taken[i][count] = one[i];
        count++;
    }
    bench->report.checks = count;
    for (int i = 0; i < BENCH_CHECK_COUNT; i++)
        bench->report.check[i] = stopwatch_spread(count, taken[i]);
}

/* Take the same step with both trajectories. */
static enum status step_both(struct bench *bench, struct phases *phases, struct stopwatch *took)
{
    struct stopwatch started = stopwatch_now();
    enum status status = trajectory_step(bench->whole);
    struct stopwatch ended = stopwatch_now();
    *took = (struct stopwatch){ended.cpu - started.cpu, ended.wall - started.wall};
    return status ? status : phases_step(bench->parts, bench->whole, phases);
}

static enum status measure_steps(struct bench *bench, double seconds)
{
    double cpu[MOST_STEPS], wall[MOST_STEPS], started = stopwatch_now().wall;
    struct bench_report *report = &bench->report;
    size_t count = 0;
    while (count < LEAST_STEPS || (count < MOST_STEPS && stopwatch_now().wall - started < seconds)) {
        struct stopwatch took;
        enum status status = step_both(bench, &report->phases, &took);
        if (status)
            return status;
        cpu[count] = took.cpu;
        wall[count++] = took.wall;
    }
    report->steps = count;
    report->cpu = stopwatch_spread(count, cpu);
    report->wall = stopwatch_spread(count, wall);
    return STATUS_OK;
}

/* The phases are those of a step only if they did the same: the same bits. */
static enum status check_same(const struct bench *bench)
{
    if (hash_equal(trajectory_weights_hash(bench->whole), trajectory_weights_hash(bench->parts)) &&
        hash_equal(trajectory_statistics_hash(bench->whole, 0), trajectory_statistics_hash(bench->parts, 0)))
        return STATUS_OK;
    return status_fail(STATUS_INTERNAL, "bench: the phases that were timed are not those of a training step");
}

/* Time checks, and see how much memory they and the steps before take while there is one trajectory, as in a worker. */
static enum status measure_alone(struct bench *bench, double seconds)
{
    enum status status = create(bench, &bench->whole);
    for (int i = 0; !status && i < WARM_UP; i++)
        status = trajectory_step(bench->whole);
    if (status)
        return status;
    measure_checks(bench, seconds);
    bench->report.memory = resident_at_most();
    trajectory_free(bench->whole);
    bench->whole = NULL;
    return STATUS_OK;
}

/* First steps touch their memory for the first time; nothing is counted. */
static enum status create_both(struct bench *bench)
{
    struct phases unused = {0};
    struct stopwatch took;
    enum status status = create(bench, &bench->whole);
    if (!status)
        status = create(bench, &bench->parts);
    for (int i = 0; !status && i < WARM_UP; i++)
        status = step_both(bench, &unused, &took);
    return status;
}

static enum status measure(struct bench *bench, double seconds)
{
    const struct configure_files none = {0};
    struct bench_report *report = &bench->report;
    enum status status = configure_trajectory(&bench->settings, 1, &bench->settings.bn_momentum, &none, &bench->config);
    if (!status)
        status = measure_alone(bench, seconds / 2);
    if (!status)
        status = create_both(bench);
    if (status)
        return status;
    report->settings = &bench->settings;
    report->net = &bench->whole->net;
    double before = peak_fma(PEAK_SECONDS);
    status = measure_steps(bench, seconds);
    double after = peak_fma(PEAK_SECONDS);
    report->fma = before > after ? before : after;
    if (!status)
        status = check_same(bench);
    return status ? status : peak_triad(&report->triad);
}

enum status cmd_bench(int argc, char **argv)
{
    static struct bench bench;
    struct option_sets sets = {0};
    double seconds = 10;
    bool json = false;
    const struct option_row rows[] = {
        {"--set", OPTION_SETS, &sets, "KEY=VALUE", "a setting of the network, task, optimizer or measurement; repeatable"},
        {"--seconds", OPTION_SECONDS, &seconds, "S", "about how long to step; checks take half as long, or one (10)"},
        {"--json", OPTION_FLAG, &json, NULL, "as JSON"},
    };
    struct options options = {
        .command = "bench", .operands = "", .operands_max = 0,
        .about = "Time training steps and checks on one core, phase by phase, beside what the core can do at most.\n"
                 "Without --set: channels = 32-64-64, image = 32, batch = 128, Adam, checks of 4000 images.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    status = bench_settings(&sets, &bench.settings);
    if (!status)
        status = measure(&bench, seconds);
    if (status == STATUS_DIVERGED)
        status = status_context(STATUS_INPUT, "training diverges with these settings");
    if (!status && json)
        status = bench_report_json(&bench.report);
    else if (!status)
        bench_report_text(&bench.report);
    trajectory_free(bench.whole);
    trajectory_free(bench.parts);
    return status;
}

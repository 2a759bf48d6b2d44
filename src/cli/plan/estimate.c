#include "estimate.h"

#include "calibrate.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/configure.h"

#include <math.h>
#include <string.h>

#define CALIBRATION_SECONDS 0.3 /* for all norm layers together */

/* What is measured once for the whole sweep: a speed for each kind of norm layer, which is what changes it most. */
struct speeds {
    bool known[NORM_KIND_COUNT];
    struct calibrate_speed speed[NORM_KIND_COUNT];
};

static enum status first_unit(const struct sweep *sweep, const struct grouping *grouping, size_t t, struct settings *out)
{
    return sweep_unit(sweep, grouping->units[grouping->starts[t]], out, NULL);
}

static enum status measure_speeds(const struct sweep *sweep, const struct grouping *grouping, struct speeds *speeds)
{
    size_t example[NORM_KIND_COUNT], kinds = 0;
    struct settings settings;
    enum status status = STATUS_OK;
    for (size_t t = 0; !status && t < grouping->count; t++) {
        status = first_unit(sweep, grouping, t, &settings);
        if (!status && !speeds->known[settings.norm]) {
            speeds->known[settings.norm] = true;
            example[settings.norm] = t;
            kinds++;
        }
    }
    for (int norm = 0; !status && norm < NORM_KIND_COUNT; norm++) {
        if (!speeds->known[norm])
            continue;
        status = first_unit(sweep, grouping, example[norm], &settings);
        if (!status)
            status = calibrate_measure(&settings, CALIBRATION_SECONDS / (double)kinds, &speeds->speed[norm]);
    }
    return status;
}

/* At how many checks a measurement with this switch is made, if none or if every check fails. */
static double due(enum when_kind when, double checks, bool failing)
{
    switch (when) {
    case WHEN_LAST: return fmin(checks, 1);
    case WHEN_FAILING: return failing ? checks : 0;
    case WHEN_ALWAYS: return checks;
    case WHEN_NEVER:
    case WHEN_KIND_COUNT: break;
    }
    return 0;
}

/* Passes over the validation set in evaluation mode, and training batches run forward for re-estimation, as run/check.c makes them. */
static void count_passes(const struct settings *s, double momenta, bool failing, double *evaluations, double *batches)
{
    struct plan plan = configure_plan(s);
    struct variables_extent extent = configure_extent(s);
    double checks = (double)extent.checks, emas = (double)extent.emas;
    double most = plan.reest_count ? (double)plan.reest_batches[plan.reest_count - 1] : 0;
    bool running = s->norm == NORM_BATCH || s->norm == NORM_BATCHRENORM;
    *evaluations = checks * momenta + due(plan.ema, checks, failing) * momenta * 2 * emas;
    *batches = 0;
    if (!running)
        return;
    *evaluations += due(plan.reest, checks, failing) * (double)extent.reests;
    *evaluations += due(plan.swap_layer, checks, failing) * momenta * (double)extent.layers;
    *evaluations += due(plan.swap_top, checks, failing) * momenta * (double)(extent.orders * extent.ks);
    *batches += due(plan.reest, checks, failing) * most;
    if (most > 0) {
        *evaluations += due(plan.ema, checks, failing) * emas;
        *batches += due(plan.ema, checks, failing) * emas * most;
    }
}

/* A replayed trajectory makes no steps, and only the passes of its checks that belong to momenta, or make sure. */
static double trajectory_seconds(const struct settings *s, const struct calibrate_speed *speed, double image, double momenta, bool failing,
                                 bool replayed)
{
    double evaluations, batches, batch = image * (double)s->batch;
    double checks = (double)configure_extent(s).checks;
    count_passes(s, momenta, failing, &evaluations, &batches);
    double seconds = replayed ? 0 : (double)s->steps * (speed->step + batch * (speed->forward + speed->backward));
    seconds += batches * batch * speed->forward;
    seconds += evaluations * image * (double)s->val_size * speed->evaluate;
    seconds += checks * image * (double)(s->val_size + (replayed ? 0 : 2 * s->probe_size)) * speed->statistics;
    return seconds;
}

/* Put the first worker, whose time has grown, where it belongs in the heap loads[count]: the least loaded is first. */
static void sift_down(double *loads, size_t count)
{
    double load = loads[0];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && loads[child + 1] < loads[child])
            child++;
        if (loads[child] >= load)
            break;
        loads[at] = loads[child];
        at = child;
    }
    loads[at] = load;
}

/* Give each trajectory in turn to the worker that is free first; return when the last one ends. */
static enum status hand_out(const double *seconds, size_t count, size_t workers, double *end)
{
    size_t used = workers < count ? workers : count;
    double *loads = mem_array(used, sizeof *loads);
    *end = 0;
    if (!loads)
        return STATUS_NOMEM;
    for (size_t t = 0; t < count; t++) {
        loads[0] += seconds[t];
        *end = fmax(*end, loads[0]);
        sift_down(loads, used);
    }
    mem_free(loads);
    return STATUS_OK;
}

/* seconds[grouping->count], if no check or every check fails. */
static enum status estimate_all(const struct sweep *sweep, const struct grouping *grouping, const uint64_t *sources,
                                const struct speeds *speeds, bool failing, double *seconds, double *sum)
{
    struct settings settings;
    double image = 0;
    char file[SETTINGS_PATH_SIZE] = "";
    enum status status = STATUS_OK;
    *sum = 0;
    for (size_t t = 0; !status && t < grouping->count; t++) {
        status = first_unit(sweep, grouping, t, &settings);
        bool same = settings.data == DATA_FILE && strcmp(settings.file, file) == 0; /* a file's shape is read once */
        if (!status && !same)
            status = calibrate_work(&settings, &image);
        memcpy(file, settings.file, sizeof file);
        double momenta = (double)(grouping->starts[t + 1] - grouping->starts[t]);
        bool replayed = sources && sources[t] != UINT64_MAX;
        seconds[t] = status ? 0 : trajectory_seconds(&settings, &speeds->speed[settings.norm], image, momenta, failing, replayed);
        *sum += seconds[t];
    }
    return status;
}

enum status estimate_time(const struct sweep *sweep, const struct grouping *grouping, const uint64_t *sources, size_t workers,
                          double *trajectories, struct estimate *out)
{
    struct speeds speeds = {0};
    enum status status = measure_speeds(sweep, grouping, &speeds);
    if (!status)
        status = estimate_all(sweep, grouping, sources, &speeds, true, trajectories, &out->work_most);
    if (!status)
        status = hand_out(trajectories, grouping->count, workers, &out->seconds_most);
    if (!status)
        status = estimate_all(sweep, grouping, sources, &speeds, false, trajectories, &out->work);
    return status ? status : hand_out(trajectories, grouping->count, workers, &out->seconds);
}

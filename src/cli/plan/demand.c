#include "demand.h"

#include "calibrate.h"
#include "text/limit.h"

#include <math.h>

enum { MINUTE = 60, QUARTER = 900, DAY = 86400 };

/* Saving the states takes up to 30 s, the last publication as long as copying the store twice; then the job queues itself again. */
enum { SAVING = 90, WRITES_A_SECOND = 50000000, SHORTEST_LEAD = 180, STARTING = 60 };

/* Of a process without its arrays: libraries, heap, MPI's buffers. A worker core has two, the rank and its training process. */
enum { PROCESS_BYTES = 60000000, MANAGER_BYTES_A_UNIT = 500, MEGABYTE = 1000000, STEP_MEGABYTES = 50 };
static const double MEMORY_MARGIN = 1.25, TIME_MARGIN = 1.25;

static double round_up(double value, double step)
{
    return ceil(value / step) * step;
}

/* The trajectory whose training process is largest: by its batch, then by the number of its momenta. */
static enum status largest(const struct outlook *o, struct settings *out, size_t *momenta)
{
    int64_t batch = 0;
    enum status status = STATUS_OK;
    *momenta = 0;
    for (size_t t = 0; !status && t < o->grouping.count; t++) {
        struct settings settings;
        size_t count = o->grouping.starts[t + 1] - o->grouping.starts[t];
        status = sweep_unit(&o->sweep, o->grouping.units[o->grouping.starts[t]], &settings, NULL);
        if (status || settings.batch < batch || (settings.batch == batch && count <= *momenta))
            continue;
        batch = settings.batch;
        *momenta = count;
        *out = settings;
    }
    return status;
}

static enum status find_memory(const struct outlook *o, struct demand *d)
{
    struct settings settings;
    size_t momenta, arrays = 0;
    enum status status = largest(o, &settings, &momenta);
    if (!status && momenta)
        status = calibrate_memory(&settings, momenta, &arrays);
    if (status)
        return status;
    double manager = PROCESS_BYTES + (double)MANAGER_BYTES_A_UNIT * (double)o->sweep.unit_count;
    double bytes = (double)arrays + 2.0 * PROCESS_BYTES + manager / (double)d->cores;
    d->memory = (uint64_t)(round_up(bytes * MEMORY_MARGIN / MEGABYTE, STEP_MEGABYTES) * MEGABYTE);
    return STATUS_OK;
}

static enum status find_times(const struct outlook *o, struct demand *d)
{
    char limit[LIMIT_SIZE], needed[LIMIT_SIZE];
    if (o->to_train && o->unestimated)
        return status_fail(STATUS_INPUT, "the time is not known: %s", o->estimate_message);
    d->seconds = o->to_train ? o->estimate.seconds : 0;
    d->seconds_most = o->to_train ? o->estimate.seconds_most : 0;
    if (d->lead <= 0)
        d->lead = fmax(SHORTEST_LEAD, round_up(SAVING + 2 * (double)o->store_bytes / WRITES_A_SECOND, MINUTE));
    if (d->limit <= 0)
        d->limit = fmin(round_up(d->seconds_most * TIME_MARGIN + STARTING + 2 * d->lead, QUARTER), DAY);
    double useful = d->limit - d->lead - MINUTE - STARTING; /* Slurm signals up to a minute early */
    if (useful < MINUTE) {
        limit_format(d->limit, limit);
        limit_format(round_up(d->lead + 3 * MINUTE + STARTING, MINUTE), needed);
        return status_fail(STATUS_INPUT, "a time limit of %s leaves no time to train in: the states are saved %.0f s before it, and starting "
                           "takes a minute; give at least %s", limit, d->lead, needed);
    }
    d->jobs = ceil(d->seconds / useful);
    d->jobs_most = ceil(d->seconds_most / useful);
    return STATUS_OK;
}

enum status demand_find(const struct outlook *outlook, struct demand *demand)
{
    enum status status = find_times(outlook, demand);
    return status ? status : find_memory(outlook, demand);
}

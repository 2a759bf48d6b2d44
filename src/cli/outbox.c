#include "outbox.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/configure.h"

#include <math.h>
#include <string.h>

enum { STEPS_BYTES = 256 << 10 }; /* a record's, about: small beside the journal's commits, large beside its heads */

static size_t largest_record(const struct variables_extent *extent)
{
    size_t largest = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        size_t size = variables_record_size((enum variable_group)group, extent);
        if (!variables_double((enum variable_group)group) && size > largest)
            largest = size;
    }
    return largest;
}

enum status outbox_create(struct outbox *outbox, struct trainer *trainer, const struct job *job)
{
    outbox->trainer = trainer;
    outbox->job = job;
    outbox->extent = configure_extent(&job->settings);
    outbox->extent.parameters = (size_t)job->parameters;
    outbox->step_size = variables_record_size(GROUP_STEP, &outbox->extent);
    outbox->room = STEPS_BYTES / (outbox->step_size * sizeof(double));
    outbox->room = outbox->room < 1 ? 1 : outbox->room;
    outbox->values = mem_array(largest_record(&outbox->extent), sizeof *outbox->values);
    outbox->steps = mem_array(outbox->room, outbox->step_size * sizeof *outbox->steps);
    return outbox->values && outbox->steps ? STATUS_OK : STATUS_NOMEM;
}

void outbox_free(struct outbox *outbox)
{
    pack_free(&outbox->pack);
    mem_free(outbox->values);
    mem_free(outbox->steps);
    *outbox = (struct outbox){0};
}

static enum status send(struct outbox *outbox, size_t unit, const struct record *record)
{
    pack_clear(&outbox->pack);
    enum status status = record_pack(record, &outbox->pack);
    return status ? status : trainer_record(outbox->trainer, outbox->job->rows[unit], outbox->pack.data, outbox->pack.size);
}

enum status outbox_flush(struct outbox *outbox)
{
    struct record record = {.kind = RECORD_VALUES, .group = GROUP_STEP, .index = outbox->first, .doubles = outbox->steps,
                            .count = (uint32_t)(outbox->held * outbox->step_size)};
    if (!outbox->held)
        return STATUS_OK;
    outbox->held = 0;
    return send(outbox, 0, &record);
}

enum status outbox_record(struct outbox *outbox, size_t unit, const struct record *record)
{
    enum status status = outbox_flush(outbox);
    return status ? status : send(outbox, unit, record);
}

static enum status hold_step(struct outbox *outbox, uint32_t index, const double *values)
{
    enum status status = STATUS_OK;
    if (outbox->held == outbox->room || index != outbox->first + outbox->held)
        status = outbox_flush(outbox);
    if (!outbox->held)
        outbox->first = index;
    memcpy(outbox->steps + outbox->held++ * outbox->step_size, values, outbox->step_size * sizeof *values);
    return status;
}

enum status outbox_values(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    struct outbox *outbox = context;
    if (group == GROUP_STEP)
        return hold_step(outbox, index, values);
    size_t size = variables_record_size(group, &outbox->extent); /* larger than count where another unit has more parameters */
    for (size_t i = 0; i < size; i++)
        outbox->values[i] = i < count ? (float)values[i] : NAN;
    struct record record = {.kind = RECORD_VALUES, .group = group, .index = index, .count = (uint32_t)size, .values = outbox->values};
    return outbox_record(outbox, unit, &record);
}

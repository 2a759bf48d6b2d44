#include "recorded.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/base/unpack.h"
#include "bnsweep/measure/record.h"
#include "bnsweep/store/reader.h"

#include <math.h>

enum { BLOCK_BYTES = 1 << 20 };

enum status recorded_create(struct recorded *recorded, size_t rows, const struct variables_extent *extent)
{
    recorded->rows = rows;
    recorded->step_size = extent->steps ? variables_record_size(GROUP_STEP, extent) : 0;
    recorded->steps = mem_array(recorded->step_size ? rows : 0, sizeof *recorded->steps);
    recorded->checks = mem_array(rows, sizeof *recorded->checks);
    recorded->samples = mem_array(rows, sizeof *recorded->samples);
    return recorded->checks && recorded->samples && recorded->steps ? STATUS_OK : STATUS_NOMEM;
}

void recorded_free(struct recorded *recorded)
{
    mem_free(recorded->checks);
    mem_free(recorded->samples);
    mem_free(recorded->steps);
    *recorded = (struct recorded){0};
}

void recorded_note(struct recorded *recorded, uint32_t row, const void *bytes, size_t size)
{
    struct unpack unpack = {.data = bytes, .size = size};
    uint8_t kind = unpack_u8(&unpack), group = unpack_u8(&unpack);
    uint32_t index = unpack_u32(&unpack), count = unpack_u32(&unpack);
    if (kind != RECORD_VALUES || unpack.failed || row >= recorded->rows)
        return;
    if (group == GROUP_CHECK)
        recorded->checks[row] = index + 1;
    else if (group == GROUP_TRACE)
        recorded->samples[row] = index + 1;
    else if (group == GROUP_STEP && recorded->step_size)
        recorded->steps[row] = index + (uint32_t)(count / recorded->step_size);
}

/* How many of `count` groups of `width` values, from the first on, have a value that is a number. */
static uint32_t leading(const float *values, size_t count, size_t width)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < width && isnan(values[i * width + j]))
            j++;
        if (j == width)
            return (uint32_t)i;
    }
    return (uint32_t)count;
}

static enum status count_stored(const struct reader *reader, enum variable_id id, uint64_t row, uint32_t *out)
{
    const struct variables_extent *extent = reader_extent(reader);
    size_t count = variables_record_count(variables_table[id].group, extent), width = variables_size(id, extent);
    *out = 0;
    if (!count || !width || row >= reader_rows(reader))
        return STATUS_OK;
    float *values = mem_array(count, width * sizeof *values);
    enum status status = values ? reader_values(reader, id, row, 1, values) : STATUS_NOMEM;
    if (!status)
        *out = leading(values, count, width);
    mem_free(values);
    return status;
}

/* How many steps from the first on the unit in `row` has kept; reads a block of steps at a time. */
static enum status count_kept(const struct reader *reader, uint64_t row, uint32_t *out)
{
    const struct variables_extent *extent = reader_extent(reader);
    size_t channels = extent->channels, room = BLOCK_BYTES / (channels * sizeof(double)), here = 0;
    enum status status = STATUS_OK;
    *out = 0;
    if (!layout_has_variable(VARIABLE_batch_mean, extent) || row >= reader_rows(reader))
        return STATUS_OK;
    room = room < 1 ? 1 : room;
    double *means = mem_array(room, channels * sizeof *means);
    status = means ? STATUS_OK : STATUS_NOMEM;
    for (size_t first = 0; !status && first < extent->steps && *out == first; first += here) {
        here = extent->steps - first < room ? extent->steps - first : room;
        status = reader_positions(reader, VARIABLE_batch_mean, row, first, here, means);
        for (size_t i = 0; !status && i < here && !isnan(means[i * channels]); i++)
            ++*out;
    }
    mem_free(means);
    return status;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

enum status recorded_fill(const struct recorded *recorded, const char *path, struct job *job)
{
    struct reader *reader = NULL;
    job->checks = job->samples = job->steps = 0;
    enum status status = reader_open(path, &reader);
    if (!status)
        status = recorded_fill_from(recorded, reader, job);
    reader_close(reader);
    return status;
}

enum status recorded_fill_from(const struct recorded *recorded, const struct reader *reader, struct job *job)
{
    uint32_t checks = UINT32_MAX, samples = UINT32_MAX;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < job->count; i++) {
        uint32_t row = job->rows[i], stored_checks, stored_samples;
        status = count_stored(reader, VARIABLE_lr_applied, row, &stored_checks);
        if (!status)
            status = count_stored(reader, VARIABLE_lag_trace, row, &stored_samples);
        if (status)
            break;
        stored_checks = larger(stored_checks, row < recorded->rows ? recorded->checks[row] : 0);
        stored_samples = larger(stored_samples, row < recorded->rows ? recorded->samples[row] : 0);
        checks = stored_checks < checks ? stored_checks : checks;
        samples = stored_samples < samples ? stored_samples : samples;
    }
    uint32_t steps = 0;
    if (!status)
        status = count_kept(reader, job->rows[0], &steps);
    if (!status && recorded->step_size && job->rows[0] < recorded->rows)
        steps = larger(steps, recorded->steps[job->rows[0]]);
    job->checks = status ? 0 : checks;
    job->samples = status ? 0 : samples;
    job->steps = status ? 0 : steps;
    return status;
}

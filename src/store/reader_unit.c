#include "bnsweep/store/reader_unit.h"

#include "bnsweep/base/mem.h"
#include "reader_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *column_name(enum layout_column_id column)
{
    return layout_columns_table[column].name;
}

/* Read a text column into scratch[count]. */
static enum status texts(const struct reader *reader, enum layout_column_id column, uint64_t first, size_t count, char **scratch)
{
    return reader_texts(reader, column_name(column), first, count, scratch);
}

static void copy_hex(char out[HASH_HEX_SIZE], char *text)
{
    snprintf(out, HASH_HEX_SIZE, "%s", text);
    mem_free(text);
}

static enum status read_hashes(const struct reader *reader, uint64_t first, size_t count, struct reader_unit *out, char **scratch)
{
    enum status status = texts(reader, COLUMN_identity, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++) {
        if (!hash_from_hex(scratch[i], &out[i].identity))
            status = status_fail(STATUS_CORRUPT, "%s: row %llu has the identity \"%s\"", reader->path,
                                 (unsigned long long)(first + i), scratch[i]);
    }
    for (size_t i = 0; i < count; i++)
        mem_free(scratch[i]);
    if (!status)
        status = texts(reader, COLUMN_weights_init_hash, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        copy_hex(out[i].weights_init, scratch[i]);
    if (!status)
        status = texts(reader, COLUMN_weights_hash, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        copy_hex(out[i].weights, scratch[i]);
    if (!status)
        status = texts(reader, COLUMN_statistics_hash, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        copy_hex(out[i].statistics, scratch[i]);
    return status;
}

static enum status read_names(const struct reader *reader, uint64_t first, size_t count, struct reader_unit *out, char **scratch)
{
    enum status status = texts(reader, COLUMN_arm, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].arm = scratch[i];
    if (!status)
        status = texts(reader, COLUMN_host, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].host = scratch[i];
    if (!status)
        status = texts(reader, COLUMN_reason, first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].reason = scratch[i];
    return status;
}

static enum status read_numbers(const struct reader *reader, uint64_t first, size_t count, struct reader_unit *out, double *scratch)
{
    enum status status = reader_reals(reader, column_name(COLUMN_status), first, count, scratch);
    for (size_t i = 0; i < count && !status; i++) {
        out[i].row = first + i;
        if (!(scratch[i] >= 0 && scratch[i] < UNIT_STATUS_COUNT))
            return status_fail(STATUS_CORRUPT, "%s: row %llu has the status %g", reader->path, (unsigned long long)(first + i), scratch[i]);
        out[i].status = (enum unit_status)(int)scratch[i];
    }
    if (!status)
        status = reader_reals(reader, column_name(COLUMN_attempts), first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].attempts = (uint32_t)scratch[i];
    if (!status)
        status = reader_reals(reader, column_name(COLUMN_rank), first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].rank = (int32_t)scratch[i];
    if (!status)
        status = reader_reals(reader, column_name(COLUMN_started), first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].started = scratch[i];
    if (!status)
        status = reader_reals(reader, column_name(COLUMN_seconds), first, count, scratch);
    for (size_t i = 0; i < count && !status; i++)
        out[i].seconds = scratch[i];
    return status;
}

/* A check is recorded where lr_applied, which is finite at every check, has a value. */
static enum status count_checks(const struct reader *reader, uint64_t first, size_t count, struct reader_unit *out)
{
    size_t checks = reader->schema.extent.checks, size = count;
    if (checks == 0)
        return STATUS_OK;
    if (!mem_multiply(&size, checks))
        return status_fail(STATUS_NOMEM, "%zu units of %zu checks are too many at once", count, checks);
    float *rates = mem_array(size, sizeof *rates);
    if (!rates)
        return STATUS_NOMEM;
    enum status status = reader_values(reader, VARIABLE_lr_applied, first, count, rates);
    for (size_t i = 0; i < count && !status; i++) {
        const struct overlay_row *row = reader->overlay.rows[first + i];
        for (size_t check = 0; check < checks; check++)
            out[i].checks += !isnan(rates[i * checks + check]) || (row && row->checks[check]);
    }
    mem_free(rates);
    return status;
}

static enum status replace_text(char **text, const char *by)
{
    char *copy = mem_text(by);
    if (!copy)
        return STATUS_NOMEM;
    mem_free(*text);
    *text = copy;
    return STATUS_OK;
}

static enum status lay_over(const struct overlay_row *row, struct reader_unit *unit)
{
    enum status status = STATUS_OK;
    if (row->has_state) {
        unit->status = row->state.status;
        unit->attempts = row->state.attempts;
        unit->rank = row->state.rank;
        unit->started = row->state.started;
        status = replace_text(&unit->host, row->state.host);
        if (!status)
            status = replace_text(&unit->reason, row->state.reason);
    }
    if (row->has_end)
        unit->seconds = row->seconds;
    if (row->ended_last)
        unit->status = row->outcome;
    return status;
}

enum status reader_unit_list(const struct reader *reader, uint64_t first, size_t count, struct reader_unit *out)
{
    char **strings = mem_array(count, sizeof *strings);
    double *numbers = mem_array(count, sizeof *numbers);
    memset(out, 0, count * sizeof *out);
    enum status status = strings && numbers ? STATUS_OK : STATUS_NOMEM;
    if (!status)
        status = read_hashes(reader, first, count, out, strings);
    if (!status)
        status = read_names(reader, first, count, out, strings);
    if (!status)
        status = read_numbers(reader, first, count, out, numbers);
    if (!status)
        status = count_checks(reader, first, count, out);
    for (size_t i = 0; i < count && !status; i++)
        if (reader->overlay.rows[first + i])
            status = lay_over(reader->overlay.rows[first + i], &out[i]);
    mem_free(strings);
    mem_free(numbers);
    return status;
}

void reader_unit_free(struct reader_unit *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mem_free(units[i].arm);
        mem_free(units[i].host);
        mem_free(units[i].reason);
        units[i].arm = units[i].host = units[i].reason = NULL;
    }
}

#include "recheck.h"

#include "origin/kept.h"
#include "read/difference.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/applied.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum status recheck_create(struct recheck *recheck)
{
    const struct variables_extent *extent = recheck->frame->extent;
    size_t largest = 1;
    enum status status = STATUS_OK;
    for (int id = 0; id < VARIABLE_COUNT; id++) {
        size_t size = variables_size((enum variable_id)id, extent);
        largest = size > largest ? size : largest;
    }
    recheck->buffer = arena_array(&recheck->arena, largest, sizeof(double));
    if (!recheck->buffer)
        return STATUS_NOMEM;
    for (size_t unit = 0; !status && unit < recheck->count; unit++) {
        for (int group = 0; group < GROUP_COUNT; group++) {
            size_t positions = variables_record_count((enum variable_group)group, extent);
            recheck->came[unit][group] = arena_array(&recheck->arena, positions, sizeof(bool));
            if (!recheck->came[unit][group])
                return STATUS_NOMEM;
        }
        status = kept_there(recheck->frame->reader, recheck->rows[unit], &recheck->keeps[unit]);
    }
    return status;
}

void recheck_free(struct recheck *recheck)
{
    arena_free(&recheck->arena);
}

/* Compare one position of a variable: `values` [given], in the store's type; behind them, and with NULL, all is to be NaN. */
static enum status compare(struct recheck *recheck, size_t unit, enum variable_id id, uint64_t index, const double *values, size_t given)
{
    size_t size = variables_size(id, recheck->frame->extent);
    struct recheck_tally *tally = &recheck->tally[unit][id];
    bool doubles = variables_double(variables_table[id].group);
    enum status status = reader_positions(recheck->frame->reader, id, recheck->rows[unit], index, 1, recheck->buffer);
    for (size_t i = 0; !status && i < size; i++) {
        double stored = doubles ? ((double *)(void *)recheck->buffer)[i] : (double)((float *)(void *)recheck->buffer)[i];
        double now = !values || i >= given ? NAN : doubles ? values[i] : (double)(float)values[i];
        bool same = memcmp(&stored, &now, sizeof now) == 0 || (isnan(stored) && isnan(now));
        if (!same && tally->different++ == 0) {
            tally->place = index * size + i;
            tally->stored = stored;
            tally->now = now;
        }
    }
    tally->compared += size;
    return status;
}

static enum status compare_record(struct recheck *recheck, size_t unit, enum variable_group group, uint64_t index, const double *values,
                                  size_t count)
{
    const struct variables_extent *extent = recheck->frame->extent;
    enum status status = STATUS_OK;
    if (index >= variables_record_count(group, extent))
        return STATUS_OK; /* no axis for it: the store's shape is checked elsewhere */
    recheck->came[unit][group][index] = true;
    for (int id = 0; !status && id < VARIABLE_COUNT; id++) {
        if (variables_table[id].group != group || !layout_has_variable((enum variable_id)id, extent))
            continue;
        size_t offset = variables_offset((enum variable_id)id, extent), size = variables_size((enum variable_id)id, extent);
        size_t given = count > offset ? count - offset : 0;
        status = compare(recheck, unit, (enum variable_id)id, index, values + offset, given < size ? given : size);
    }
    return status;
}

enum status recheck_values(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    struct recheck *recheck = context;
    enum status status = STATUS_OK;
    if (!variables_kept(group))
        return compare_record(recheck, unit, group, index, values, count);
    for (size_t i = 0; !status && i < recheck->count; i++) /* given once, for all units of the trajectory */
        if (recheck->keeps[i])
            status = compare_record(recheck, i, group, index, values, count);
    return status;
}

static enum status compare_rest(struct recheck *recheck, size_t unit)
{
    enum status status = STATUS_OK;
    for (int id = 0; id < VARIABLE_COUNT; id++) {
        enum variable_group group = variables_table[id].group;
        if (!layout_has_variable((enum variable_id)id, recheck->frame->extent) || (variables_kept(group) && !recheck->keeps[unit]))
            continue;
        for (size_t index = 0; !status && index < variables_record_count(group, recheck->frame->extent); index++)
            if (!recheck->came[unit][group][index])
                status = compare(recheck, unit, (enum variable_id)id, index, NULL, 0);
    }
    return status;
}

/* Note the first column that differs at the end. */
static enum status compare_text(struct recheck *recheck, size_t unit, enum layout_column_id column, const char *now)
{
    char *stored = NULL;
    const char *name = layout_columns_table[column].name;
    enum status status = reader_texts(recheck->frame->reader, name, recheck->rows[unit], 1, &stored);
    if (!status && strcmp(stored, now) != 0 && !*recheck->ends[unit])
        snprintf(recheck->ends[unit], sizeof recheck->ends[unit], "%s: %.60s stored, %.60s now", name, stored, now);
    mem_free(stored);
    return status;
}

static enum status compare_hash(struct recheck *recheck, size_t unit, enum layout_column_id column, struct hash now)
{
    char hex[HASH_HEX_SIZE];
    hash_hex(now, hex);
    return compare_text(recheck, unit, column, hex);
}

static void compare_settings(struct recheck *recheck, size_t unit, const struct trajectory *trajectory, const struct settings *settings)
{
    struct settings asked = *settings, applied;
    if (settings_relevant(&asked, SETTING_bn_momentum))
        asked.bn_momentum = trajectory->config.momenta[unit];
    applied_read(trajectory, unit, &asked, &applied);
    if (applied_check(&asked, &applied) && !*recheck->ends[unit])
        snprintf(recheck->ends[unit], sizeof recheck->ends[unit], "%s", status_message());
}

enum status recheck_end(struct recheck *recheck, const struct trajectory *trajectory, const struct settings *settings, bool diverged)
{
    enum status status = STATUS_OK;
    char steps[32];
    snprintf(steps, sizeof steps, "%" PRIu64, trajectory->step);
    for (size_t unit = 0; !status && unit < recheck->count; unit++) {
        if (diverged)
            snprintf(recheck->ends[unit], sizeof recheck->ends[unit], "status: done stored, now it diverges after step %s", steps);
        status = compare_rest(recheck, unit);
        if (!status)
            status = compare_text(recheck, unit, COLUMN_steps_done, steps);
        if (!status)
            status = compare_hash(recheck, unit, COLUMN_weights_init_hash, trajectory->weights_init);
        if (!status)
            status = compare_hash(recheck, unit, COLUMN_weights_hash, trajectory_weights_hash(trajectory));
        if (!status)
            status = compare_hash(recheck, unit, COLUMN_statistics_hash, trajectory_statistics_hash(trajectory, unit));
        if (!status)
            compare_settings(recheck, unit, trajectory, settings);
    }
    return status;
}

static void say(const struct recheck *recheck, size_t unit, const char *what, const struct proof_listener *listener,
                struct rerun_report *report)
{
    char text[1024];
    size_t row = recheck->rows[unit];
    snprintf(text, sizeof text, "unit %zu (%s), %s", row, frame_text(&recheck->frame->arm, row), what);
    listener->find(listener->context, PROOF_ERROR, text);
    report->errors++;
}

void recheck_report(const struct recheck *recheck, const struct proof_listener *listener, struct rerun_report *report)
{
    for (size_t unit = 0; unit < recheck->count; unit++) {
        if (*recheck->ends[unit])
            say(recheck, unit, recheck->ends[unit], listener, report);
        for (int id = 0; id < VARIABLE_COUNT; id++) {
            const struct recheck_tally *tally = &recheck->tally[unit][id];
            char place[128], what[512];
            report->compared += tally->compared;
            if (!tally->different)
                continue;
            int digits = variables_double(variables_table[id].group) ? 17 : 9;
            difference_place(recheck->frame->reader, (enum variable_id)id, tally->place, place);
            snprintf(what, sizeof what, "%s%s: %.*g stored, %.*g now; %" PRIu64 " of %" PRIu64 " values differ", variables_table[id].name,
                     place, digits, tally->stored, digits, tally->now, tally->different, tally->compared);
            say(recheck, unit, what, listener, report);
        }
    }
}

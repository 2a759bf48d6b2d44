#include "bnsweep/store/repair.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/store/lock.h"
#include "columns_internal.h"
#include "keeping_internal.h"
#include "paths_internal.h"
#include "publish_internal.h"
#include "replace_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct repair {
    const char *store;
    char journal[PATH_MAX];
    struct repair_report *report;
    bool damage;        /* some was met on the way */
    struct suspect {
        uint64_t row;
        bool again;     /* it lacks something: it is pending now */
    } *suspects;        /* [suspect_count] units that ended behind it, by row, owned */
    size_t suspect_count, suspect_capacity;
};

/* --- what a run would say --- */

static enum status list_strictly(const char *store, const char *journal)
{
    hid_t file = -1;
    struct schema schema;
    struct apply_plan plan = {0};
    struct journal_reader *reader = NULL;
    enum status status = h5_open(store, false, &file);
    if (!status)
        status = schema_read(file, store, &schema);
    if (!status)
        status = journal_reader_open(journal, &reader);
    if (!status)
        status = apply_list(reader, &schema, &plan);
    for (size_t i = 0; !status && i < plan.count; i++) {
        struct journal_entry entry;
        struct record record = {0};
        status = journal_reader_at(reader, plan.items[i].offset, &entry);
        if (!status && entry.kind == JOURNAL_RECORD)
            status = record_unpack(entry.bytes, entry.size, &record);
        if (!status && entry.kind == JOURNAL_RECORD)
            status = apply_check(&record, &schema.extent);
        record_free(&record);
    }
    apply_free(&plan);
    journal_reader_close(reader);
    if (file >= 0)
        H5Fclose(file);
    return status;
}

/* Whether the store itself is one. */
static enum status check_store(const char *store, struct schema *schema)
{
    hid_t file;
    enum status status = access(store, F_OK) == 0 ? h5_open(store, false, &file) : paths_check_absent(store);
    if (!status && access(store, F_OK) != 0)
        status = status_fail(STATUS_INPUT, "there is no store %s", store);
    if (status)
        return status;
    status = schema_read(file, store, schema);
    H5Fclose(file);
    return status;
}

/* --- what can be read --- */

static enum status add_suspect(struct repair *repair, uint64_t row)
{
    if (repair->suspect_count == repair->suspect_capacity) {
        size_t larger = repair->suspect_capacity ? 2 * repair->suspect_capacity : 64;
        struct suspect *suspects = mem_grow(repair->suspects, repair->suspect_capacity, larger, sizeof *suspects);
        if (!suspects)
            return STATUS_NOMEM;
        repair->suspects = suspects;
        repair->suspect_capacity = larger;
    }
    repair->suspects[repair->suspect_count++] = (struct suspect){.row = row};
    return STATUS_OK;
}

/* Whether the store can take the entry; `*ends` is whether it ends a unit. */
static bool fits(const struct journal_entry *entry, const struct schema *schema, bool *ends)
{
    *ends = false;
    if (entry->row >= schema->rows || entry->kind != JOURNAL_RECORD)
        return entry->row < schema->rows;
    struct record record;
    bool good = !record_unpack(entry->bytes, entry->size, &record) && !apply_check(&record, &schema->extent);
    *ends = good && record.kind == RECORD_END;
    record_free(&record);
    return good;
}

static enum status take(struct repair *repair, const struct journal_entry *entry, const struct schema *schema, struct apply_plan *plan)
{
    bool ends;
    repair->damage = repair->damage || entry->sequence != plan->last + 1;
    if (!fits(entry, schema, &ends)) {
        repair->report->unusable++;
        repair->damage = true;
        plan->last = entry->sequence;
        return STATUS_OK;
    }
    enum status status = apply_add(plan, entry);
    repair->report->entries += !status;
    repair->report->records += !status && entry->kind == JOURNAL_RECORD;
    return !status && ends && repair->damage ? add_suspect(repair, entry->row) : status;
}

static enum status list_readable(struct journal_reader *reader, const struct schema *schema, struct apply_plan *out, void *context)
{
    struct repair *repair = context;
    struct journal_entry entry;
    bool more = true;
    enum status status = STATUS_OK;
    *out = (struct apply_plan){.last = schema->applied};
    while (!status && more) {
        uint64_t passed = 0;
        status = journal_reader_salvage(reader, &entry, &more, &passed);
        repair->report->places += !status && passed;
        repair->report->bytes += status ? 0 : passed;
        if (!status && more && entry.sequence > out->last)
            status = take(repair, &entry, schema, out);
    }
    apply_order(out);
    return status;
}

/* --- what is trained again --- */

static enum status read_number(hid_t file, const char *name, uint64_t row, int64_t *out)
{
    struct h5_slab slab = {.rank = 1, .start = {row}, .count = {1}};
    hid_t dataset;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    status = h5_read(dataset, name, H5T_NATIVE_INT64, &slab, out);
    H5Dclose(dataset);
    return status;
}

/* Read a row of a variable: `count` records of `width` values, owned by the caller. */
static enum status read_row(hid_t file, enum variable_id id, const struct variables_extent *extent, uint64_t row, float **out)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    const char *name = variables_table[id].name;
    struct h5_slab slab = {.rank = layout_variable_axes(id, axes), .start = {row}, .count = {1}};
    size_t total = 1;
    for (int i = 1; i < slab.rank; i++) {
        slab.count[i] = layout_length(extent, axes[i]);
        total *= slab.count[i];
    }
    hid_t dataset;
    *out = mem_array(total, sizeof **out);
    enum status status = *out ? h5_open_dataset(file, name, &dataset) : STATUS_NOMEM;
    if (status)
        return status;
    status = h5_read(dataset, name, H5T_NATIVE_FLOAT, &slab, *out);
    H5Dclose(dataset);
    return status;
}

/* Whether all records of the variable's group are there that are due after so many steps. `axis` NULL: one record, always. */
static enum status has_all(hid_t file, enum variable_id id, const char *axis, const struct schema *schema, uint64_t row, int64_t steps,
                           bool *all)
{
    const struct variables_extent *extent = &schema->extent;
    size_t count = variables_record_count(variables_table[id].group, extent), width = variables_size(id, extent);
    float *values = NULL;
    if (!layout_has_variable(id, extent))
        return STATUS_OK;
    enum status status = read_row(file, id, extent, row, &values);
    for (size_t i = 0; !status && i < count; i++) {
        int64_t step = 0;
        bool there = false;
        status = axis ? read_number(file, axis, i, &step) : STATUS_OK;
        for (size_t k = 0; k < width; k++)
            there = there || !isnan(values[i * width + k]);
        *all = *all && (there || step > steps);
    }
    mem_free(values);
    return status;
}

/* Judges by variables that are numbers whenever they were measured; what is measured of a diverged unit may be none. */
static enum status is_complete(hid_t file, const struct schema *schema, uint64_t row, bool *complete)
{
    int64_t state = 0, steps = 0;
    enum status status = read_number(file, layout_columns_table[COLUMN_status].name, row, &state);
    if (!status)
        status = read_number(file, layout_columns_table[COLUMN_steps_done].name, row, &steps);
    *complete = state == UNIT_DONE;
    if (!status)
        status = has_all(file, VARIABLE_norm_init, NULL, schema, row, steps, complete);
    if (!status)
        status = has_all(file, VARIABLE_lr_applied, layout_axes_table[AXIS_CHECK].name, schema, row, steps, complete);
    if (!status)
        status = has_all(file, VARIABLE_lag_trace, layout_axes_table[AXIS_SAMPLE].name, schema, row, steps, complete);
    return status;
}

static int by_row(const void *a, const void *b)
{
    uint64_t x = ((const struct suspect *)a)->row, y = ((const struct suspect *)b)->row;
    return x < y ? -1 : x > y;
}

/* Of a trajectory that lacks what it should have kept for replays, one suspect unit is enough: trained again, it keeps all. */
static enum status find_unkept(hid_t file, const struct schema *schema, struct repair *repair)
{
    struct keeping_unit *units;
    size_t count;
    enum status status = keeping_list(file, schema, &units, &count);
    for (size_t i = 0, end; !status && i < count; i = end) {
        struct suspect *first = NULL;
        bool whole;
        end = keeping_trajectory(units, count, i, &whole);
        for (size_t k = i; k < end; k++) {
            const struct suspect key = {.row = units[k].row};
            struct suspect *found = bsearch(&key, repair->suspects, repair->suspect_count, sizeof key, by_row);
            first = first ? first : found;
            whole = whole || (found && found->again);
        }
        if (!whole && first)
            first->again = true;
    }
    mem_free(units);
    return status;
}

static enum status find_incomplete(hid_t file, const struct schema *schema, struct repair *repair)
{
    enum status status = STATUS_OK;
    size_t count = 0;
    if (repair->suspect_count)
        qsort(repair->suspects, repair->suspect_count, sizeof *repair->suspects, by_row);
    for (size_t i = 0; i < repair->suspect_count; i++) /* one that ended more than once is one */
        if (i == 0 || repair->suspects[i].row != repair->suspects[i - 1].row)
            repair->suspects[count++] = repair->suspects[i];
    repair->suspect_count = count;
    for (size_t i = 0; !status && i < count; i++) {
        bool complete;
        status = is_complete(file, schema, repair->suspects[i].row, &complete);
        repair->suspects[i].again = !status && !complete;
    }
    return status || !count ? status : find_unkept(file, schema, repair);
}

static enum status reset_incomplete(hid_t file, const struct schema *schema, void *context)
{
    struct repair *repair = context;
    struct columns *columns = NULL;
    enum status status = find_incomplete(file, schema, repair);
    if (!status && repair->suspect_count)
        status = columns_open(file, schema->rows, schema->rows, &columns);
    for (size_t i = 0; !status && i < repair->suspect_count; i++)
        if (repair->suspects[i].again) {
            status = columns_set_integer(columns, repair->suspects[i].row, COLUMN_status, UNIT_PENDING);
            repair->report->again++;
        }
    if (!status && columns)
        status = columns_flush(columns);
    return columns_close(columns, status);
}

/* --- all of it --- */

/* Give the journal a name that is free. */
static enum status put_aside(struct repair *repair)
{
    char *kept = repair->report->kept;
    int length = snprintf(kept, PATH_MAX, "%s.damaged", repair->journal);
    for (int number = 2; length < PATH_MAX && access(kept, F_OK) == 0; number++)
        length = snprintf(kept, PATH_MAX, "%s.damaged.%d", repair->journal, number);
    if (length >= PATH_MAX || rename(repair->journal, kept))
        return status_fail(STATUS_IO, "cannot put %s aside: %s", repair->journal, strerror(length >= PATH_MAX ? ENAMETOOLONG : errno));
    return replace_sync_folder(repair->store);
}

static enum status salvage(struct repair *repair)
{
    struct publish_edit edit = {.make = reset_incomplete, .context = repair};
    struct publish_source source = {.list = list_readable, .context = repair};
    enum status status = journal_reader_open_damaged(repair->journal, &source.reader, &repair->damage);
    if (!status)
        status = publish_from(repair->store, &source, &edit);
    journal_reader_close(source.reader);
    mem_free(repair->suspects);
    return status;
}

/* Only once the store has all that can be read is the journal put aside: a repair that is ended in between begins anew. */
static enum status repair_locked(struct repair *repair)
{
    struct schema schema;
    struct repair_report *report = repair->report;
    bool damaged;
    struct journal_reader *reader = NULL;
    enum status status = check_store(repair->store, &schema);
    if (status)
        return status;
    enum status found = list_strictly(repair->store, repair->journal);
    report->needed = found != STATUS_OK;
    snprintf(report->problem, sizeof report->problem, "%s", report->needed ? status_message() : "");
    if (found != STATUS_OK && found != STATUS_CORRUPT && found != STATUS_VERSION)
        return found;
    status = report->needed ? journal_reader_open_damaged(repair->journal, &reader, &damaged) : STATUS_OK;
    report->foreign = reader && !damaged && !hash_equal(journal_reader_store(reader), schema.store);
    journal_reader_close(reader);
    if (status || !report->needed)
        return status; /* a journal of a newer version is neither damaged nor foreign */
    if (!report->foreign)
        status = salvage(repair);
    return status ? status : put_aside(repair);
}

enum status repair_store(const char *path, struct repair_report *out)
{
    char store[PATH_MAX];
    struct lock lock;
    struct repair repair = {.store = store, .report = out};
    *out = (struct repair_report){0};
    enum status status = paths_resolve(path, store);
    if (!status)
        status = paths_beside(store, ".journal", repair.journal);
    if (!status)
        status = lock_take(store, &lock);
    if (status)
        return status;
    replace_clean(store);
    status = repair_locked(&repair);
    lock_release(&lock);
    return status;
}

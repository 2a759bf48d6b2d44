#include "apply_internal.h"

#include "bnsweep/base/mem.h"
#include "columns_internal.h"
#include "values_internal.h"

#include <stdlib.h>
#include <string.h>

enum { GROWTH_MARGIN = 4 << 20 };

struct application {
    struct journal_reader *reader;
    const struct schema *schema;
    struct columns *columns;
    struct values *values;
};

enum status apply_check(const struct record *record, const struct variables_extent *extent)
{
    if (record->kind != RECORD_VALUES)
        return STATUS_OK;
    size_t size = variables_record_size(record->group, extent), count = variables_record_count(record->group, extent);
    size_t records = size && variables_kept(record->group) && record->count % size == 0 ? record->count / size : 1;
    if (record->count != records * size || record->index >= count || records > count - record->index)
        return status_fail(STATUS_CORRUPT, "record %u of group %d with %u values, but the store has %zu of %zu values", record->index,
                           (int)record->group, record->count, count, size);
    return STATUS_OK;
}

static int order_items(const void *a, const void *b)
{
    const struct apply_item *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

enum status apply_add(struct apply_plan *plan, const struct journal_entry *entry)
{
    if (plan->count == plan->capacity) {
        size_t larger = plan->capacity ? 2 * plan->capacity : 1024;
        struct apply_item *items = mem_grow(plan->items, plan->capacity, larger, sizeof *items);
        if (!items)
            return STATUS_NOMEM;
        plan->items = items;
        plan->capacity = larger;
    }
    plan->items[plan->count++] = (struct apply_item){entry->row, entry->sequence, entry->offset};
    plan->last = entry->sequence;
    if (entry->kind == JOURNAL_RECORD && record_is_kept(entry->bytes, entry->size))
        plan->kept += entry->size;
    return STATUS_OK;
}

static enum status check_journal(const struct journal_reader *reader, const struct schema *schema)
{
    if (!hash_equal(journal_reader_store(reader), schema->store))
        return status_fail(STATUS_VERSION, "the journal belongs to another store; move the one that does not belong here away");
    if (journal_reader_first(reader) > schema->applied + 1)
        return status_fail(STATUS_CORRUPT, "the store ends with entry %llu, its journal begins with %llu: is the store an old copy? Put the newer one back, "
                           "or let `bnsweep repair STORE` take what the journal has",
                           (unsigned long long)schema->applied, (unsigned long long)journal_reader_first(reader));
    return STATUS_OK;
}

enum status apply_list(struct journal_reader *reader, const struct schema *schema, struct apply_plan *out)
{
    *out = (struct apply_plan){.last = schema->applied};
    if (!reader)
        return STATUS_OK;
    struct journal_entry entry;
    bool more = true;
    enum status status = check_journal(reader, schema);
    while (!status && more) {
        status = journal_reader_next(reader, &entry, &more);
        if (status || !more || entry.sequence <= schema->applied)
            continue;
        status = entry.row < schema->rows ? apply_add(out, &entry)
                                          : status_fail(STATUS_CORRUPT, "the journal has an entry for row %llu, the store %llu rows",
                                                        (unsigned long long)entry.row, (unsigned long long)schema->rows);
    }
    if (!status)
        apply_order(out);
    return status;
}

void apply_order(struct apply_plan *plan)
{
    if (plan->count)
        qsort(plan->items, plan->count, sizeof *plan->items, order_items);
    plan->rows = 0;
    for (size_t i = 0; i < plan->count; i++)
        plan->rows += i == 0 || plan->items[i].row != plan->items[i - 1].row;
}

uint64_t apply_growth(const struct apply_plan *plan, const struct schema *schema)
{
    size_t row = 4096; /* texts */
    for (int group = 0; group < GROUP_COUNT; group++)
        if (!variables_kept((enum variable_group)group))
            row += sizeof(float) * variables_record_size((enum variable_group)group, &schema->extent) *
                   variables_record_count((enum variable_group)group, &schema->extent);
    return plan->rows * row + 2 * plan->kept /* begun chunks are whole */ + GROWTH_MARGIN;
}

static enum status apply_state(struct columns *columns, const struct journal_entry *entry)
{
    enum status status = columns_set_integer(columns, entry->row, COLUMN_status, entry->status);
    if (!status)
        status = columns_set_integer(columns, entry->row, COLUMN_attempts, entry->attempts);
    if (!status)
        status = columns_set_integer(columns, entry->row, COLUMN_rank, entry->rank);
    if (!status)
        status = columns_set_real(columns, entry->row, COLUMN_started, entry->started);
    if (!status)
        status = columns_set_text(columns, entry->row, COLUMN_host, entry->host);
    if (!status)
        status = columns_set_text(columns, entry->row, COLUMN_reason, entry->reason);
    return status;
}

static enum status set_hash(struct columns *columns, uint64_t row, int column, struct hash hash)
{
    char hex[HASH_HEX_SIZE];
    hash_hex(hash, hex);
    return columns_set_text(columns, row, column, hex);
}

/* Set the settings' columns from "key = value" lines. A key without a column, or no number where the column has numbers, is
 * passed over: nothing that was measured may be lost over it. */
static enum status apply_settings(struct columns *columns, uint64_t row, char *lines)
{
    char *rest = lines, name[LAYOUT_NAME_SIZE];
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *separator = strstr(line, " = ");
        if (!separator)
            continue;
        *separator = '\0';
        layout_column_name(line, name);
        int column = columns_find(columns, name);
        if (column < COLUMN_COUNT)
            continue;
        enum status status = columns_parse(columns, row, column, separator + 3);
        if (status && status != STATUS_INPUT)
            return status;
    }
    return STATUS_OK;
}

static enum status apply_end(struct columns *columns, uint64_t row, struct record *record)
{
    bool done = record->outcome == RECORD_DONE;
    enum status status = columns_set_integer(columns, row, COLUMN_status, done ? UNIT_DONE : UNIT_DIVERGED);
    if (!status)
        status = columns_set_text(columns, row, COLUMN_reason, "");
    if (!status)
        status = columns_set_integer(columns, row, COLUMN_steps_done, (int64_t)record->steps);
    if (!status)
        status = columns_set_real(columns, row, COLUMN_seconds, record->seconds);
    if (!status)
        status = set_hash(columns, row, COLUMN_weights_init_hash, record->weights_init);
    if (!status)
        status = set_hash(columns, row, COLUMN_weights_hash, record->weights_final);
    if (!status)
        status = set_hash(columns, row, COLUMN_statistics_hash, record->statistics_final);
    return status ? status : apply_settings(columns, row, record->applied);
}

static enum status apply_record(struct application *to, const struct journal_entry *entry)
{
    struct record record;
    enum status status = record_unpack(entry->bytes, entry->size, &record);
    if (!status)
        status = apply_check(&record, &to->schema->extent);
    if (!status && record.kind == RECORD_VALUES && variables_kept(record.group))
        status = values_write_kept(to->values, entry->row, &record);
    else if (!status && record.kind == RECORD_VALUES)
        values_put(to->values, &record);
    else if (!status)
        status = apply_end(to->columns, entry->row, &record);
    record_free(&record);
    return status;
}

static enum status apply_rows(struct application *to, const struct apply_plan *plan)
{
    struct journal_entry entry;
    for (size_t i = 0; i < plan->count; i++) {
        enum status status = journal_reader_at(to->reader, plan->items[i].offset, &entry);
        if (!status)
            status = entry.kind == JOURNAL_RECORD ? apply_record(to, &entry) : apply_state(to->columns, &entry);
        if (status)
            return status_context(status, "entry %llu", (unsigned long long)plan->items[i].sequence);
        if (i + 1 == plan->count || plan->items[i + 1].row != entry.row)
            status = values_write(to->values, entry.row);
        if (status)
            return status;
    }
    return columns_flush(to->columns);
}

enum status apply_write(hid_t file, struct journal_reader *reader, const struct schema *schema, const struct apply_plan *plan)
{
    struct application to = {.reader = reader, .schema = schema};
    if (plan->count == 0)
        return STATUS_OK;
    enum status status = columns_open(file, schema->rows, schema->rows, &to.columns);
    if (!status)
        status = values_open(file, &schema->extent, &to.values);
    if (!status)
        status = apply_rows(&to, plan);
    status = values_close(to.values, status);
    status = columns_close(to.columns, status);
    return status ? status : schema_set_applied(file, plan->last);
}

void apply_free(struct apply_plan *plan)
{
    mem_free(plan->items);
    *plan = (struct apply_plan){0};
}

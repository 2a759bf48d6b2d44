#include "overlay_internal.h"

#include "apply_internal.h"

#include <stdio.h>

static void note(struct reader_journal *health, enum status status)
{
    health->health = status;
    snprintf(health->message, sizeof health->message, "%s", status_message());
}

static struct overlay_row *row_of(struct overlay *overlay, uint64_t row, const struct variables_extent *extent)
{
    if (overlay->rows[row])
        return overlay->rows[row];
    struct overlay_row *made = arena_array(&overlay->arena, 1, sizeof *made);
    if (made)
        made->checks = arena_array(&overlay->arena, extent->checks, sizeof *made->checks);
    return made && made->checks ? (overlay->rows[row] = made) : NULL;
}

static enum status take_record(struct overlay_row *row, const struct journal_entry *entry, const struct variables_extent *extent)
{
    struct record record;
    enum status status = record_unpack(entry->bytes, entry->size, &record);
    if (!status)
        status = apply_check(&record, extent);
    if (!status && record.kind == RECORD_END) {
        row->has_end = row->ended_last = true;
        row->outcome = record.outcome == RECORD_DONE ? UNIT_DONE : UNIT_DIVERGED;
        row->seconds = record.seconds;
    } else if (!status && record.group == GROUP_CHECK) {
        row->checks[record.index] = true;
    }
    record_free(&record);
    return status;
}

static enum status take_entry(struct overlay *overlay, const struct journal_entry *entry, const struct schema *schema)
{
    if (entry->row >= schema->rows)
        return status_fail(STATUS_CORRUPT, "the journal has an entry for row %llu, the store %llu rows",
                           (unsigned long long)entry->row, (unsigned long long)schema->rows);
    struct overlay_row *row = row_of(overlay, entry->row, &schema->extent);
    if (!row)
        return STATUS_NOMEM;
    if (entry->kind == JOURNAL_RECORD)
        return take_record(row, entry, &schema->extent);
    row->state = *entry;
    row->has_state = true;
    row->ended_last = false;
    return STATUS_OK;
}

enum status overlay_read(struct journal_reader *reader, const struct schema *schema, struct overlay *out,
                         struct reader_journal *health)
{
    *out = (struct overlay){0};
    *health = (struct reader_journal){.exists = reader != NULL};
    out->rows = arena_array(&out->arena, schema->rows, sizeof *out->rows);
    if (!out->rows)
        return STATUS_NOMEM;
    if (!reader)
        return STATUS_OK;
    if (!hash_equal(journal_reader_store(reader), schema->store)) {
        note(health, status_fail(STATUS_VERSION, "the journal belongs to another store"));
        return STATUS_OK;
    }
    if (journal_reader_first(reader) > schema->applied + 1)
        return status_fail(STATUS_CORRUPT, "the store ends with entry %llu, its journal begins with %llu: is the store an old copy?",
                           (unsigned long long)schema->applied, (unsigned long long)journal_reader_first(reader));
    struct journal_entry entry;
    bool more = true;
    uint64_t offset;
    enum status status = STATUS_OK;
    while (!status && more) {
        status = journal_reader_next(reader, &entry, &more);
        if (status || !more || entry.sequence <= schema->applied)
            continue;
        health->waiting++;
        status = take_entry(out, &entry, schema);
    }
    health->torn_bytes = journal_reader_torn(reader, &offset);
    if (status == STATUS_NOMEM)
        return status;
    if (status)
        note(health, status);
    return STATUS_OK;
}

void overlay_free(struct overlay *overlay)
{
    arena_free(&overlay->arena);
    overlay->rows = NULL;
}

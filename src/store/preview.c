#include "bnsweep/store/preview.h"

#include "bnsweep/base/mem.h"
#include "compare_internal.h"
#include "paths_internal.h"
#include "reader_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_ROWS = 1 << 16 };

/* The given units by identity. */
struct known {
    struct hash identity;
    size_t unit;
};

static int by_identity(const void *a, const void *b)
{
    const struct hash *x = &((const struct known *)a)->identity, *y = &((const struct known *)b)->identity;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->low < y->low ? -1 : x->low > y->low;
}

static struct known *sort_units(const struct writer_units *units)
{
    struct known *known = mem_array(units->count, sizeof *known);
    for (size_t i = 0; known && i < units->count; i++)
        known[i] = (struct known){units->identities[i], i};
    if (known)
        qsort(known, units->count, sizeof *known, by_identity);
    return known;
}

/* A row's state as published, with the journal's word on it. */
static enum status read_row(const struct reader *reader, uint64_t row, int64_t status, int64_t attempts, struct writer_unit *out)
{
    const struct overlay_row *over = reader->overlay.rows[row];
    if (status < 0 || status >= UNIT_STATUS_COUNT)
        return status_fail(STATUS_CORRUPT, "%s: row %llu has the status %lld", reader->path, (unsigned long long)row, (long long)status);
    *out = (struct writer_unit){row, (enum unit_status)status, (uint32_t)attempts};
    if (over && over->has_state) {
        out->status = over->state.status;
        out->attempts = over->state.attempts;
    }
    if (over && over->ended_last)
        out->status = over->outcome;
    return STATUS_OK;
}

struct block {
    char **identities;
    int64_t *states, *attempts;
};

static enum status take_block(const struct reader *reader, const struct block *block, uint64_t first, size_t count,
                              const struct known *known, size_t known_count, struct writer_unit *out_units, struct preview *out)
{
    for (size_t i = 0; i < count; i++) {
        struct known key;
        struct writer_unit unit;
        if (!hash_from_hex(block->identities[i], &key.identity))
            return status_fail(STATUS_CORRUPT, "%s: row %llu has the identity \"%s\"", reader->path, (unsigned long long)(first + i),
                               block->identities[i]);
        enum status status = read_row(reader, first + i, block->states[i], block->attempts[i], &unit);
        if (status)
            return status;
        const struct known *found = bsearch(&key, known, known_count, sizeof *known, by_identity);
        if (found)
            out_units[found->unit] = unit;
        else
            out->extra[unit.status]++;
    }
    return STATUS_OK;
}

static enum status read_rows(const struct reader *reader, const struct known *known, size_t known_count,
                             struct writer_unit *out_units, struct preview *out)
{
    struct block block = {mem_array(BLOCK_ROWS, sizeof(char *)), mem_array(BLOCK_ROWS, sizeof(int64_t)),
                          mem_array(BLOCK_ROWS, sizeof(int64_t))};
    enum status status = block.identities && block.states && block.attempts ? STATUS_OK : STATUS_NOMEM;
    for (uint64_t first = 0; !status && first < out->rows; first += BLOCK_ROWS) {
        size_t count = out->rows - first < BLOCK_ROWS ? (size_t)(out->rows - first) : BLOCK_ROWS;
        status = reader_integers(reader, layout_columns_table[COLUMN_status].name, first, count, block.states);
        if (!status)
            status = reader_integers(reader, layout_columns_table[COLUMN_attempts].name, first, count, block.attempts);
        if (!status)
            status = reader_texts(reader, layout_columns_table[COLUMN_identity].name, first, count, block.identities);
        if (status)
            break;
        status = take_block(reader, &block, first, count, known, known_count, out_units, out);
        for (size_t i = 0; i < count; i++)
            mem_free(block.identities[i]);
    }
    mem_free(block.identities);
    mem_free(block.states);
    mem_free(block.attempts);
    return status;
}

/* Number the units that the store does not know, as a run would. */
static void number_new(size_t count, uint64_t rows, struct writer_unit *units)
{
    for (size_t i = 0; i < count; i++)
        if (units[i].row == UINT64_MAX)
            units[i].row = rows++;
}

/* What the journal holds would be published first, which a damaged one does not allow. */
static enum status check_journal(const struct reader *reader)
{
    const struct reader_journal *journal = reader_journal(reader);
    if (!journal->health)
        return STATUS_OK;
    return status_context(status_fail(journal->health, "%s", journal->message), "publishing %s", reader->path);
}

static enum status look(const struct reader *reader, const struct layout *layout, const struct writer_units *units,
                        struct writer_unit *out_units, struct preview *out)
{
    struct stat info;
    out->rows = reader_rows(reader);
    out->bytes = stat(reader->path, &info) == 0 ? (uint64_t)info.st_size : 0;
    enum status status = compare_layout(reader->file, reader->path, layout);
    if (!status)
        status = check_journal(reader);
    if (status)
        return status;
    struct known *known = sort_units(units);
    status = known ? read_rows(reader, known, units->count, out_units, out) : STATUS_NOMEM;
    mem_free(known);
    return status;
}

enum status preview_store(const char *path, const struct layout *layout, const struct writer_units *units,
                          struct writer_unit *out_units, struct preview *out)
{
    struct reader *reader;
    *out = (struct preview){0};
    for (size_t i = 0; i < units->count; i++)
        out_units[i] = (struct writer_unit){.row = UINT64_MAX};
    enum status status = paths_resolve(path, out->path);
    if (status)
        return status;
    out->exists = access(out->path, F_OK) == 0;
    if (!out->exists) {
        status = paths_check_absent(out->path);
    } else {
        status = reader_open(out->path, &reader);
        if (!status)
            status = look(reader, layout, units, out_units, out);
        reader_close(reader);
    }
    number_new(units->count, out->rows, out_units);
    return status;
}

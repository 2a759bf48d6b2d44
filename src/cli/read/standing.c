#include "standing.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/settings.h"

#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 4096 };

static bool is_worth_naming(const struct reader_unit *unit)
{
    return unit->status == UNIT_RUNNING || unit->status == UNIT_DIVERGED || unit->status == UNIT_FAILED;
}

/* Take the unit over: its texts are then the standing's. */
static enum status name_unit(struct standing *to, struct reader_unit *unit, double momentum, double seed)
{
    if (to->named_count == to->named_capacity) {
        size_t capacity = to->named_capacity ? 2 * to->named_capacity : 64;
        struct standing_unit *named = mem_grow(to->named, to->named_capacity, capacity, sizeof *named);
        if (!named)
            return STATUS_NOMEM;
        to->named = named;
        to->named_capacity = capacity;
    }
    to->named[to->named_count++] = (struct standing_unit){*unit, momentum, seed};
    unit->arm = unit->host = unit->reason = NULL;
    return STATUS_OK;
}

struct block {
    struct reader_unit *units;  /* [BLOCK_ROWS] */
    double *momenta, *seeds;    /* [BLOCK_ROWS] */
};

static enum status read_block(struct standing *to, const struct reader *reader, const struct block *block, uint64_t first, size_t count)
{
    enum status status = reader_reals(reader, settings_table[SETTING_bn_momentum].key, first, count, block->momenta);
    if (!status)
        status = reader_reals(reader, settings_table[SETTING_seed].key, first, count, block->seeds);
    if (status)
        return status;
    status = reader_unit_list(reader, first, count, block->units);
    for (size_t i = 0; !status && i < count; i++) {
        struct reader_unit *unit = &block->units[i];
        to->in_state[unit->status]++;
        to->attempts += unit->attempts;
        to->restarted += unit->attempts > 1;
        if (is_worth_naming(unit))
            status = name_unit(to, unit, block->momenta[i], block->seeds[i]);
    }
    reader_unit_free(block->units, count);
    return status;
}

static enum status read_units(struct standing *to, const struct reader *reader)
{
    struct block block = {mem_array(BLOCK_ROWS, sizeof *block.units), mem_array(BLOCK_ROWS, sizeof *block.momenta),
                          mem_array(BLOCK_ROWS, sizeof *block.seeds)};
    enum status status = block.units && block.momenta && block.seeds ? STATUS_OK : STATUS_NOMEM;
    for (uint64_t first = 0; !status && first < to->units; first += BLOCK_ROWS) {
        size_t count = to->units - first < BLOCK_ROWS ? (size_t)(to->units - first) : BLOCK_ROWS;
        status = read_block(to, reader, &block, first, count);
    }
    mem_free(block.units);
    mem_free(block.momenta);
    mem_free(block.seeds);
    return status;
}

enum status standing_read(const char *path, struct standing *out)
{
    struct reader *reader;
    enum status status = reader_open(path, &reader);
    if (status)
        return status;
    out->units = reader_rows(reader);
    out->checks = reader_extent(reader)->checks;
    out->journal = *reader_journal(reader);
    status = read_units(out, reader);
    reader_close(reader);
    return status ? status : lock_note_read(path, &out->writer);
}

void standing_free(struct standing *standing)
{
    for (size_t i = 0; i < standing->named_count; i++)
        reader_unit_free(&standing->named[i].unit, 1);
    mem_free(standing->named);
    *standing = (struct standing){0};
}

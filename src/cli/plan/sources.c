#include "sources.h"

#include "origin/kept.h"
#include "origin/kin.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/run/replay.h"
#include "bnsweep/sweep/identity.h"
#include "bnsweep/sweep/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_ROWS = 4096 };

/* The units of the store that have ended, and the BN momenta that they have. */
struct ended {
    struct unit {
        struct hash identity;
        uint64_t row;
    } *units;         /* [count] by identity, owned */
    double *momenta;  /* [momenta_count] rising, different, owned */
    size_t count, momenta_count;
};

static int by_identity(const void *a, const void *b)
{
    const struct hash *x = &((const struct unit *)a)->identity, *y = &((const struct unit *)b)->identity;
    return x->high != y->high ? (x->high < y->high ? -1 : 1) : (x->low > y->low) - (x->low < y->low);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct unit_rows {
    char **identities;
    int64_t *states;
    double *momenta;
};

static enum status read_block(const struct reader *reader, const struct unit_rows *block, uint64_t first, size_t count, struct ended *out)
{
    enum status status = reader_integers(reader, layout_columns_table[COLUMN_status].name, first, count, block->states);
    if (!status)
        status = reader_reals(reader, settings_table[SETTING_bn_momentum].key, first, count, block->momenta);
    if (!status)
        status = reader_texts(reader, layout_columns_table[COLUMN_identity].name, first, count, block->identities);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        bool ended = block->states[i] == UNIT_DONE || block->states[i] == UNIT_DIVERGED;
        struct unit *unit = &out->units[out->count];
        if (ended && !isnan(block->momenta[i]) && hash_from_hex(block->identities[i], &unit->identity)) {
            unit->row = first + i;
            out->momenta[out->count++] = block->momenta[i];
        }
        mem_free(block->identities[i]);
    }
    return STATUS_OK;
}

static enum status read_ended(const struct reader *reader, struct ended *out)
{
    size_t rows = (size_t)reader_rows(reader);
    struct unit_rows block = {mem_array(BLOCK_ROWS, sizeof(char *)), mem_array(BLOCK_ROWS, sizeof(int64_t)),
                          mem_array(BLOCK_ROWS, sizeof(double))};
    out->units = mem_array(rows, sizeof *out->units);
    out->momenta = mem_array(rows, sizeof *out->momenta);
    enum status status = block.identities && block.states && block.momenta && out->units && out->momenta ? STATUS_OK : STATUS_NOMEM;
    for (size_t first = 0; !status && first < rows; first += BLOCK_ROWS)
        status = read_block(reader, &block, first, rows - first < BLOCK_ROWS ? rows - first : BLOCK_ROWS, out);
    mem_free(block.identities);
    mem_free(block.states);
    mem_free(block.momenta);
    if (status || !out->count)
        return status;
    qsort(out->units, out->count, sizeof *out->units, by_identity);
    qsort(out->momenta, out->count, sizeof *out->momenta, by_value);
    for (size_t i = 0; i < out->count; i++)
        if (i == 0 || out->momenta[i] != out->momenta[i - 1])
            out->momenta[out->momenta_count++] = out->momenta[i];
    return STATUS_OK;
}

/* Find a unit of the same trajectory with any of the momenta that has kept its batches. */
static enum status find_source(const struct reader *reader, const struct ended *ended, struct settings *settings, uint64_t *out)
{
    struct plan plan = configure_plan(settings);
    enum status status = STATUS_OK;
    *out = UINT64_MAX;
    if (!identity_fusable(settings) || !replay_possible(&plan))
        return STATUS_OK;
    for (size_t i = 0; !status && *out == UINT64_MAX && i < ended->momenta_count; i++) {
        bool there = false;
        settings->bn_momentum = ended->momenta[i];
        struct unit key = {.identity = identity_of(settings)};
        const struct unit *unit = bsearch(&key, ended->units, ended->count, sizeof key, by_identity);
        if (unit)
            status = kept_there(reader, unit->row, &there);
        if (!status && there)
            *out = unit->row;
    }
    return status;
}

static enum status find_all(const struct reader *reader, const struct sweep *sweep, const struct grouping *grouping, struct sources *out)
{
    struct ended ended = {0};
    struct settings settings;
    enum status status = read_ended(reader, &ended);
    for (size_t t = 0; !status && ended.count && t < grouping->count; t++) {
        status = sweep_unit(sweep, grouping->units[grouping->starts[t]], &settings, NULL);
        if (!status)
            status = find_source(reader, &ended, &settings, &out->rows[t]);
        out->found += !status && out->rows[t] != UINT64_MAX;
    }
    mem_free(ended.units);
    mem_free(ended.momenta);
    return status;
}

/* Whether what the store keeps has the bits of this program on this machine. */
static enum status check_kin(const struct reader *reader, struct sources *out)
{
    enum status status = kin_check(reader);
    if (status == STATUS_NOMEM || status == STATUS_CORRUPT)
        return status;
    if (status)
        snprintf(out->refusal, sizeof out->refusal, "%s", status_message());
    return STATUS_OK;
}

enum status sources_find(const char *path, const struct sweep *sweep, const struct grouping *grouping, struct sources *out)
{
    struct reader *reader = NULL;
    out->rows = mem_array(grouping->count, sizeof *out->rows);
    if (!out->rows)
        return STATUS_NOMEM;
    for (size_t t = 0; t < grouping->count; t++)
        out->rows[t] = UINT64_MAX;
    if (!grouping->count || access(path, F_OK))
        return STATUS_OK;
    enum status status = reader_open_published(path, &reader);
    bool keeps = !status && layout_has_variable(VARIABLE_batch_mean, reader_extent(reader));
    if (keeps)
        status = check_kin(reader, out);
    if (!status && keeps && !*out->refusal)
        status = find_all(reader, sweep, grouping, out);
    reader_close(reader);
    return status;
}

void sources_free(struct sources *sources)
{
    mem_free(sources->rows);
    *sources = (struct sources){0};
}

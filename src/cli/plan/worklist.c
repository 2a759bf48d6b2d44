#include "worklist.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/trajectory.h"
#include "bnsweep/sweep/identity.h"

#include <stdio.h>
#include <stdlib.h>

bool worklist_wants(const struct writer_unit *unit, bool retry_failed)
{
    return unit->status == UNIT_PENDING || unit->status == UNIT_RUNNING || (unit->status == UNIT_FAILED && retry_failed);
}

static int by_row(const void *a, const void *b, void *context)
{
    const struct writer_unit *units = context;
    uint64_t x = units[*(const size_t *)a].row, y = units[*(const size_t *)b].row;
    return x < y ? -1 : x > y;
}

enum status worklist_make(const struct sweep *sweep, const struct writer_unit *units, bool retry_failed, bool fuse,
                          struct grouping *out)
{
    size_t count = 0, *chosen = mem_array(sweep->unit_count, sizeof *chosen);
    if (!chosen)
        return STATUS_NOMEM;
    for (size_t i = 0; i < sweep->unit_count; i++)
        if (worklist_wants(&units[i], retry_failed))
            chosen[count++] = i;
    enum status status = grouping_make(sweep, chosen, count, fuse ? TRAJECTORY_MAX_MOMENTA : 1, out);
    mem_free(chosen);
    for (size_t t = 0; !status && t < out->count; t++)
        qsort_r(out->units + out->starts[t], out->starts[t + 1] - out->starts[t], sizeof *out->units, by_row,
                (void *)(uintptr_t)units);
    return status;
}

enum status worklist_job(const struct sweep *sweep, const struct writer_unit *units, const struct grouping *grouping, size_t index,
                         const char *states, struct job *out)
{
    size_t first = grouping->starts[index];
    struct settings settings;
    char key[HASH_HEX_SIZE];
    out->count = grouping->starts[index + 1] - first;
    for (size_t i = 0; i < out->count; i++) {
        enum status status = sweep_unit(sweep, grouping->units[first + i], i ? &settings : &out->settings, NULL);
        if (status)
            return status;
        out->rows[i] = (uint32_t)units[grouping->units[first + i]].row;
        out->momenta[i] = (i ? &settings : &out->settings)->bn_momentum;
    }
    out->key = hash_combine(identity_trajectory(&out->settings), hash_bytes(out->momenta, out->count * sizeof *out->momenta));
    hash_hex(out->key, key);
    if (snprintf(out->state, sizeof out->state, "%s/%s", states, key) >= (int)sizeof out->state)
        return status_fail(STATUS_INPUT, "the store's path is too long");
    return STATUS_OK;
}

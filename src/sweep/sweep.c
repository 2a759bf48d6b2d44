#include "bnsweep/sweep/sweep.h"

#include "bnsweep/sweep/grid_check.h"
#include "bnsweep/sweep/resolved.h"

#include <string.h>

static char *copy(struct sweep *sweep, const void *bytes, size_t size)
{
    char *kept = arena_array(&sweep->arena, size + 1, 1);
    if (kept && size)
        memcpy(kept, bytes, size);
    return kept;
}

static enum status keep_texts(struct sweep *sweep, const struct inifile *file)
{
    struct pack resolved = {0};
    resolved_write(&sweep->grid, &resolved);
    sweep->text = copy(sweep, file->text, file->size);
    sweep->text_size = file->size;
    sweep->name = copy(sweep, sweep->grid.arms[0].base.name, strlen(sweep->grid.arms[0].base.name));
    if (!resolved.failed)
        sweep->resolved = copy(sweep, resolved.data, resolved.size);
    pack_free(&resolved);
    return sweep->text && sweep->name && sweep->resolved ? STATUS_OK : STATUS_NOMEM;
}

static enum status add_axis(struct sweep *sweep, const struct axis *axis)
{
    size_t i = 0;
    while (i < sweep->axis_count && sweep->axes[i].key != axis->key)
        i++;
    if (i == sweep->axis_count)
        sweep->axes[sweep->axis_count++] = (struct axis){.key = axis->key, .size = axis->size};
    return axis_merge(&sweep->axes[i], axis);
}

/* Collect the keys that some arm varies, and their values in every arm that varies them. */
static enum status collect_axes(struct sweep *sweep)
{
    sweep->axes = arena_array(&sweep->arena, SETTINGS_COUNT, sizeof *sweep->axes);
    if (!sweep->axes)
        return STATUS_NOMEM;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < sweep->grid.entry_count; i++) {
        const struct grid_entry *entry = &sweep->grid.entries[i];
        if (!entry->overridden && entry->axis.count > 1)
            status = add_axis(sweep, &entry->axis);
    }
    return status;
}

static enum status check(struct sweep *sweep)
{
    struct hash *identities = arena_array(&sweep->arena, sweep->grid.unit_count, sizeof *identities);
    sweep->identities = identities;
    return identities ? grid_check(&sweep->grid, identities) : STATUS_NOMEM;
}

enum status sweep_load(const char *path, const char *const *overrides, size_t count, struct sweep *out)
{
    *out = (struct sweep){0};
    struct inifile file = {0};
    enum status status = inifile_read(path, &file);
    if (!status)
        status = grid_build(&file, overrides, count, &out->grid);
    if (!status)
        status = check(out);
    if (!status)
        status = keep_texts(out, &file);
    if (!status)
        status = collect_axes(out);
    out->unit_count = out->grid.unit_count;
    inifile_free(&file);
    return status;
}

enum status sweep_unit(const struct sweep *sweep, size_t index, struct settings *out, const char **arm)
{
    if (index >= sweep->unit_count)
        return status_fail(STATUS_INPUT, "no unit %zu: the sweep has %zu units, from 0", index, sweep->unit_count);
    size_t arm_index;
    grid_unit(&sweep->grid, index, out, &arm_index);
    if (arm)
        *arm = sweep->grid.arms[arm_index].name;
    return STATUS_OK;
}

void sweep_free(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        axis_free(&sweep->axes[i]);
    grid_free(&sweep->grid);
    arena_free(&sweep->arena);
    *sweep = (struct sweep){0};
}

#include "bnsweep/sweep/grid.h"

#include "bnsweep/sweep/grid_read.h"
#include "bnsweep/sweep/identity.h"
#include "bnsweep/sweep/settings_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *copy(struct grid *grid, const char *text, size_t length)
{
    char *kept = arena_array(&grid->arena, length + 1, 1);
    if (kept)
        memcpy(kept, text, length);
    return kept;
}

void grid_where(const struct grid *grid, const struct grid_entry *entry, char out[GRID_TEXT_SIZE])
{
    const char *key = settings_table[entry->key].key;
    if (entry->place == GRID_OVERRIDE)
        snprintf(out, GRID_TEXT_SIZE, "--set %s=%.100s", key, entry->text);
    else
        snprintf(out, GRID_TEXT_SIZE, "%.300s:%d: [%s] %s = %.100s", grid->path, entry->line, entry->section, key, entry->text);
}

enum status grid_blame(const struct grid *grid, const struct grid_entry *entry, enum status status)
{
    char where[GRID_TEXT_SIZE];
    grid_where(grid, entry, where);
    return status_context(status, "%s", where);
}

static enum status conflict(
    const struct grid *grid, const struct grid_entry *first, const struct grid_entry *second, const char *advice)
{
    return grid_blame(
        grid, second, status_fail(STATUS_INPUT, "the key is also in [%s], line %d; %s", first->section, first->line, advice));
}

/* Let each arm's own entry win over one of a base section; refuse what has no clear winner. */
static enum status find_sources(const struct grid *grid, struct grid_arm *arm)
{
    for (int key = 0; key < SETTINGS_COUNT; key++)
        arm->source[key] = -1;
    size_t index = (size_t)(arm - grid->arms);
    for (size_t i = 0; i < grid->entry_count; i++) {
        const struct grid_entry *entry = &grid->entries[i];
        if (entry->overridden || (entry->place == GRID_ARM && entry->arm != index))
            continue;
        int *source = &arm->source[entry->key];
        const struct grid_entry *other = *source >= 0 ? &grid->entries[*source] : NULL;
        bool with_arm = other && (other->place == GRID_ARM || entry->place == GRID_ARM);
        if (other && (entry->place == GRID_GRID || other->place == GRID_GRID))
            return conflict(grid, other, entry,
                with_arm ? "the axis would not reach this arm: give every arm its own values" : "keep one of the two");
        if (!other || entry->place == GRID_ARM)
            *source = (int)i;
    }
    return STATUS_OK;
}

static enum status build_arm(struct grid *grid, struct grid_arm *arm)
{
    enum status status = find_sources(grid, arm);
    if (status)
        return status;
    settings_defaults(&arm->base);
    arm->first = grid->unit_count;
    arm->count = 1;
    arm->axes = arena_array(&grid->arena, SETTINGS_COUNT, sizeof *arm->axes);
    if (!arm->axes)
        return STATUS_NOMEM;
    for (size_t i = 0; i < grid->entry_count; i++) {
        const struct grid_entry *entry = &grid->entries[i];
        if (arm->source[entry->key] != (int)i)
            continue;
        arm->given[entry->key] = true;
        axis_apply(&entry->axis, 0, &arm->base);
        if (entry->axis.count == 1)
            continue;
        arm->axes[arm->axis_count++] = i;
        if (entry->axis.count > GRID_MAX_UNITS / arm->count)
            return grid_blame(grid, entry,
                status_fail(STATUS_INPUT, "with this axis, arm '%s' has more than %d units", arm->name, GRID_MAX_UNITS));
        arm->count *= entry->axis.count;
    }
    grid->unit_count += arm->count;
    if (grid->unit_count > GRID_MAX_UNITS)
        return status_fail(STATUS_INPUT, "%s: the sweep has more than %d units", grid->path, GRID_MAX_UNITS);
    return STATUS_OK;
}

static const struct grid_file *find_file(const struct grid *grid, const char *path)
{
    for (size_t i = 0; i < grid->file_count; i++)
        if (strcmp(grid->files[i].path, path) == 0)
            return &grid->files[i];
    return NULL;
}

static enum status hash_value(struct grid *grid, const struct axis *axis, size_t index)
{
    const char *path = (const char *)axis->values + index * axis->size, *plain = settings_table[axis->key].default_text;
    if ((plain && strcmp(path, plain) == 0) || find_file(grid, path))
        return STATUS_OK;
    struct grid_file *file = &grid->files[grid->file_count];
    file->path = path;
    enum status status = identity_file(path, file->hash);
    grid->file_count += !status;
    return status;
}

/* Hash each distinct file once. */
static enum status hash_files(struct grid *grid)
{
    size_t most = 0;
    for (size_t i = 0; i < grid->entry_count; i++)
        if (settings_table[grid->entries[i].key].type == SETTINGS_TYPE_PATH)
            most += grid->entries[i].axis.count;
    grid->files = arena_array(&grid->arena, most, sizeof *grid->files);
    if (!grid->files)
        return STATUS_NOMEM;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < grid->entry_count; i++) {
        const struct grid_entry *entry = &grid->entries[i];
        if (entry->overridden || settings_table[entry->key].type != SETTINGS_TYPE_PATH)
            continue;
        for (size_t j = 0; !status && j < entry->axis.count; j++)
            status = grid_blame(grid, entry, hash_value(grid, &entry->axis, j));
    }
    return status;
}

/* Remember the sweep file's path, and its folder as an absolute path: workers may run elsewhere. */
static enum status find_folder(struct grid *grid, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char here[SETTINGS_PATH_SIZE] = "", folder[2 * SETTINGS_PATH_SIZE];
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return status_fail(STATUS_INPUT, "%s: cannot tell the working folder: %s", path, strerror(errno));
    if (length >= SETTINGS_PATH_SIZE)
        return status_fail(STATUS_INPUT, "%s: the path is too long; allowed: less than %d bytes", path, SETTINGS_PATH_SIZE);
    snprintf(folder, sizeof folder, "%s%s%.*s", here, path[0] != '/' && length ? "/" : "", (int)length, path);
    grid->path = copy(grid, path, strlen(path));
    grid->folder = copy(grid, folder, strlen(folder));
    return grid->path && grid->folder ? STATUS_OK : STATUS_NOMEM;
}

enum status grid_build(const struct inifile *file, const char *const *overrides, size_t count, struct grid *out)
{
    *out = (struct grid){0};
    enum status status = find_folder(out, file->path);
    if (!status)
        status = grid_read(out, file, overrides, count);
    for (size_t i = 0; !status && i < out->arm_count; i++)
        status = build_arm(out, &out->arms[i]);
    return status ? status : hash_files(out);
}

static const struct grid_arm *find_arm(const struct grid *grid, size_t index)
{
    size_t low = 0, high = grid->arm_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (grid->arms[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    return &grid->arms[low];
}

static void attach_hash(const struct grid *grid, const char *path, char hash[HASH_HEX_SIZE])
{
    const struct grid_file *file = find_file(grid, path);
    if (file)
        memcpy(hash, file->hash, HASH_HEX_SIZE);
}

void grid_unit(const struct grid *grid, size_t index, struct settings *out, size_t *arm_index)
{
    const struct grid_arm *arm = find_arm(grid, index);
    *out = arm->base;
    size_t rest = index - arm->first;
    for (size_t i = arm->axis_count; i-- > 0;) {
        const struct axis *axis = &grid->entries[arm->axes[i]].axis;
        axis_apply(axis, rest % axis->count, out);
        rest /= axis->count;
    }
    if (!arm->given[SETTING_probe_size] && out->probe_size > out->val_size)
        out->probe_size = out->val_size;
    settings_prune(out);
    attach_hash(grid, out->file, out->file_hash);
    attach_hash(grid, out->init, out->init_hash);
    if (arm_index)
        *arm_index = (size_t)(arm - grid->arms);
}

void grid_describe(const struct grid *grid, size_t index, char out[GRID_TEXT_SIZE])
{
    const struct grid_arm *arm = find_arm(grid, index);
    size_t rest = index - arm->first, stride = arm->count;
    int used = snprintf(out, GRID_TEXT_SIZE, "arm '%s'", arm->name);
    for (size_t i = 0; i < arm->axis_count && used < GRID_TEXT_SIZE; i++) {
        const struct axis *axis = &grid->entries[arm->axes[i]].axis;
        char value[SETTINGS_VALUE_SIZE];
        stride /= axis->count;
        axis_format(axis, rest / stride % axis->count, value);
        used += snprintf(out + used, GRID_TEXT_SIZE - (size_t)used, ", %s = %.100s", settings_table[axis->key].key, value);
    }
}

void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->entry_count; i++)
        axis_free(&grid->entries[i].axis);
    arena_free(&grid->arena);
    *grid = (struct grid){0};
}

#include "bnsweep/sweep/grid_check.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/identity.h"
#include "bnsweep/sweep/settings_check.h"

#include <stdlib.h>
#include <string.h>

/* Put "path:line" of the arm before the message; only the path where the arm is not in the file. */
static enum status blame_arm(const struct grid *grid, const struct grid_arm *arm, enum status status)
{
    return arm->line ? status_context(status, "%s:%d: arm '%s'", grid->path, arm->line, arm->name)
                     : status_context(status, "%s", grid->path);
}

static enum status check_shape(const struct grid *grid)
{
    for (size_t i = 1; i < grid->arm_count; i++)
        if (!settings_same(&grid->arms[i].base, &grid->arms[0].base, SETTING_channels))
            return blame_arm(grid, &grid->arms[i],
                status_fail(STATUS_INPUT,
                    "channels differ from those of arm '%s', but a store has one network shape; make them two sweeps",
                    grid->arms[0].name));
    return STATUS_OK;
}

static enum status check_rules(const struct grid *grid, const struct grid_arm *arm, const struct settings *settings)
{
    int key = 0;
    enum status status = settings_check(settings, arm->given, &key);
    if (!status)
        return STATUS_OK;
    if (arm->source[key] >= 0)
        return grid_blame(grid, &grid->entries[arm->source[key]], status);
    const struct setting *setting = &settings_table[key];
    return blame_arm(grid, arm,
        status_context(status, "[%s] %s%s%s", settings_section_names[setting->section], setting->key,
            setting->default_text ? " = " : "", setting->default_text ? setting->default_text : ""));
}

/* Note what the unit reads. */
static void mark_used(struct grid *grid, struct grid_arm *arm, const struct settings *settings)
{
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (!arm->relevant[key] && settings_relevant(settings, key)) {
            arm->relevant[key] = true;
            if (arm->source[key] >= 0)
                grid->entries[arm->source[key]].used = true;
        }
}

static enum status check_used(const struct grid *grid)
{
    for (size_t i = 0; i < grid->entry_count; i++) {
        const struct grid_entry *entry = &grid->entries[i];
        if (entry->used || entry->overridden)
            continue;
        bool reached = false;
        for (size_t arm = 0; arm < grid->arm_count; arm++)
            reached = reached || grid->arms[arm].source[entry->key] == (int)i;
        const struct setting *setting = &settings_table[entry->key];
        if (reached)
            status_fail(STATUS_INPUT, "nothing reads this here: %s is read only where %s; remove it, or change that",
                setting->key, settings_condition_texts[setting->condition]);
        else
            status_fail(STATUS_INPUT, "nothing reads this: every arm sets its own %s; remove it", setting->key);
        return grid_blame(grid, entry, STATUS_INPUT);
    }
    return STATUS_OK;
}

/* Two units of one arm are the same: blame the axis that has a value twice, or that neither of them reads. */
static enum status blame_axis(const struct grid *grid, size_t first, size_t second, const char *what)
{
    struct settings a, b;
    size_t index;
    grid_unit(grid, first, &a, &index);
    grid_unit(grid, second, &b, NULL);
    const struct grid_arm *arm = &grid->arms[index];
    size_t rest_a = first - arm->first, rest_b = second - arm->first;
    for (size_t i = arm->axis_count; i-- > 0;) {
        const struct grid_entry *entry = &grid->entries[arm->axes[i]];
        const struct axis *axis = &entry->axis;
        size_t at_a = rest_a % axis->count, at_b = rest_b % axis->count;
        rest_a /= axis->count;
        rest_b /= axis->count;
        if (at_a == at_b)
            continue;
        if (memcmp(axis->values + at_a * axis->size, axis->values + at_b * axis->size, axis->size) == 0)
            return grid_blame(grid, entry, status_fail(STATUS_INPUT, "a value is there twice: %s", what));
        if (!settings_relevant(&a, axis->key))
            return grid_blame(grid, entry,
                status_fail(STATUS_INPUT, "%s, because %s is read only where %s; put the axis into the arms that read it", what,
                    settings_table[axis->key].key, settings_condition_texts[settings_table[axis->key].condition]));
    }
    return status_fail(STATUS_INPUT, "%s: %s", grid->path, what);
}

static enum status blame_duplicates(const struct grid *grid, size_t first, size_t second)
{
    char one[GRID_TEXT_SIZE], other[GRID_TEXT_SIZE], what[2 * GRID_TEXT_SIZE + 128];
    grid_describe(grid, first, one);
    grid_describe(grid, second, other);
    status_fail(STATUS_INPUT, "unit %zu (%.400s) and unit %zu (%.400s) are the same", first, one, second, other);
    size_t arm_one, arm_other;
    struct settings scratch;
    grid_unit(grid, first, &scratch, &arm_one);
    grid_unit(grid, second, &scratch, &arm_other);
    if (arm_one != arm_other)
        return blame_arm(grid, &grid->arms[arm_other], STATUS_INPUT);
    strncpy(what, status_message(), sizeof what - 1);
    what[sizeof what - 1] = 0;
    return blame_axis(grid, first, second, what);
}

static int compare_hashes(const void *a, const void *b)
{
    const struct hash *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

/* Find units with the same identity. */
static enum status check_distinct(const struct grid *grid, const struct hash *identities)
{
    struct hash *sorted = mem_array(grid->unit_count, sizeof *sorted);
    if (!sorted)
        return STATUS_NOMEM;
    memcpy(sorted, identities, grid->unit_count * sizeof *sorted);
    qsort(sorted, grid->unit_count, sizeof *sorted, compare_hashes);
    size_t twin = 1, found = 0, units[2] = {0, 0};
    while (twin < grid->unit_count && !hash_equal(sorted[twin - 1], sorted[twin]))
        twin++;
    for (size_t i = 0; twin < grid->unit_count && found < 2; i++)
        if (hash_equal(identities[i], sorted[twin]))
            units[found++] = i;
    mem_free(sorted);
    return found ? blame_duplicates(grid, units[0], units[1]) : STATUS_OK;
}

static enum status check_units(struct grid *grid, struct hash *identities)
{
    for (size_t i = 0; i < grid->unit_count; i++) {
        struct settings settings;
        size_t arm;
        grid_unit(grid, i, &settings, &arm);
        mark_used(grid, &grid->arms[arm], &settings);
        enum status status = check_rules(grid, &grid->arms[arm], &settings);
        if (status)
            return status;
        identities[i] = identity_of(&settings);
    }
    enum status status = check_used(grid);
    return status ? status : check_distinct(grid, identities);
}

enum status grid_check(struct grid *grid, struct hash *identities)
{
    enum status status = check_shape(grid);
    return status ? status : check_units(grid, identities);
}

#include "bnsweep/sweep/resolved.h"

#include "bnsweep/sweep/settings_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_LINE = 180 }; /* inih reads 199 bytes, key included */

static void put(struct pack *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct pack *out, const char *format, ...)
{
    char line[2 * SETTINGS_VALUE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pack_bytes(out, line, strlen(line));
}

/* Write an axis by its values; as it was written in the sweep file where the line would be too long for inih. */
static void put_axis(struct pack *out, const struct grid_entry *entry)
{
    char line[LONGEST_LINE + SETTINGS_VALUE_SIZE], value[SETTINGS_VALUE_SIZE];
    size_t used = 0;
    for (size_t i = 0; i < entry->axis.count && used < LONGEST_LINE; i++) {
        axis_format(&entry->axis, i, value);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", i ? "," : "", value);
    }
    put(out, "%s = %s\n", settings_table[entry->key].key,
        used < LONGEST_LINE - strlen(settings_table[entry->key].key) ? line : entry->text);
}

static void put_value(struct pack *out, const struct settings *settings, int key)
{
    char value[SETTINGS_VALUE_SIZE];
    settings_text_format(settings, key, value);
    put(out, "%s = %s\n", settings_table[key].key, value);
}

/* Return whether a key goes into the arm's section with one value. */
static bool is_plain(const struct grid *grid, const struct grid_arm *arm, int key)
{
    enum settings_section section = settings_table[key].section;
    if (section == SETTINGS_SECTION_SWEEP || section == SETTINGS_SECTION_MEASURE || section == SETTINGS_SECTION_DERIVED)
        return false;
    return arm->relevant[key] && (arm->source[key] < 0 || grid->entries[arm->source[key]].axis.count == 1);
}

static void put_section(const struct grid *grid, enum settings_section section, struct pack *out)
{
    const struct grid_arm *arm = &grid->arms[0];
    struct settings unit;
    grid_unit(grid, 0, &unit, NULL);
    put(out, "\n[%s]\n", settings_section_names[section]);
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (settings_table[key].section == section && arm->relevant[key])
            put_value(out, &unit, key);
}

static void put_arm(const struct grid *grid, const struct grid_arm *arm, struct pack *out)
{
    put(out, "\n[arm %s]\n; units %zu..%zu\n", arm->name, arm->first, arm->first + arm->count - 1);
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (is_plain(grid, arm, key))
            put_value(out, &arm->base, key);
    for (size_t i = 0; i < arm->axis_count; i++)
        put_axis(out, &grid->entries[arm->axes[i]]);
}

void resolved_write(const struct grid *grid, struct pack *out)
{
    put(out, "; %zu units\n", grid->unit_count);
    for (size_t i = 0; i < grid->entry_count; i++)
        if (grid->entries[i].place == GRID_OVERRIDE)
            put(out, "; --set %s=%s\n", settings_table[grid->entries[i].key].key, grid->entries[i].text);
    for (size_t i = 0; i < grid->file_count; i++)
        put(out, "; hash %s of %s\n", grid->files[i].hash, grid->files[i].path);
    put_section(grid, SETTINGS_SECTION_SWEEP, out);
    put_section(grid, SETTINGS_SECTION_MEASURE, out);
    for (size_t i = 0; i < grid->arm_count; i++)
        put_arm(grid, &grid->arms[i], out);
}

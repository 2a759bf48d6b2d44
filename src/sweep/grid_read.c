#include "bnsweep/sweep/grid_read.h"

#include "bnsweep/sweep/nearest.h"
#include "bnsweep/sweep/settings_text.h"

#include <stdio.h>
#include <string.h>

static char *copy(struct grid *grid, const char *text, size_t length)
{
    char *kept = arena_array(&grid->arena, length + 1, 1);
    if (kept)
        memcpy(kept, text, length);
    return kept;
}

/* Return the name in "arm NAME"; NULL where `section` is no arm. */
static const char *arm_name(const char *section)
{
    if (strncmp(section, "arm", 3) != 0 || (section[3] && section[3] != ' ' && section[3] != '\t'))
        return NULL;
    return section + 3 + strspn(section + 3, " \t");
}

static enum status add_arm(struct grid *grid, const char *name, int line)
{
    struct settings scratch = {0};
    enum status status = settings_text_set(&scratch, SETTING_name, name);
    if (status)
        return status_context(status, "%s:%d: the name in [arm NAME]", grid->path, line);
    for (size_t i = 0; i < grid->arm_count; i++)
        if (strcmp(grid->arms[i].name, name) == 0)
            return status_fail(
                STATUS_INPUT, "%s:%d: arm '%s' is there twice, first in line %d", grid->path, line, name, grid->arms[i].line);
    char *kept = copy(grid, name, strlen(name));
    if (!kept)
        return STATUS_NOMEM;
    grid->arms[grid->arm_count++] = (struct grid_arm){.name = kept, .line = line};
    return STATUS_OK;
}

static int find_section(const char *name)
{
    for (int i = 0; i < SETTINGS_SECTION_DERIVED; i++)
        if (strcmp(settings_section_names[i], name) == 0)
            return i;
    return -1;
}

static enum status unknown_section(const struct grid *grid, const struct inifile_section *section)
{
    static const char *const names[] = {"sweep", "task", "network", "train", "measure", "grid", "arm"};
    char word[INIFILE_MAX_NAME + 1];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(section->name, " \t"), section->name);
    const char *nearest = nearest_name(word, names, sizeof names / sizeof *names);
    return status_fail(STATUS_INPUT,
        "%s:%d: unknown section [%s]; did you mean [%s%s]? allowed: [sweep] [task] [network] [train] [measure] [grid] [arm NAME]",
        grid->path, section->line, section->name, nearest, strcmp(nearest, "arm") == 0 ? " NAME" : "");
}

/* Check the sections' names, and collect the arms. */
static enum status read_sections(struct grid *grid, const struct inifile *file)
{
    grid->arms = arena_array(&grid->arena, file->section_count + 1, sizeof *grid->arms);
    if (!grid->arms)
        return STATUS_NOMEM;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < file->section_count; i++) {
        const struct inifile_section *section = &file->sections[i];
        const char *arm = arm_name(section->name);
        if (arm)
            status = add_arm(grid, arm, section->line);
        else if (find_section(section->name) < 0 && strcmp(section->name, "grid") != 0)
            status = unknown_section(grid, section);
    }
    if (!status && grid->arm_count == 0)
        status = add_arm(grid, "default", 0);
    return status;
}

static enum status find_key(const char *key, int *out)
{
    *out = settings_find(key);
    if (*out >= 0)
        return STATUS_OK;
    const char *nearest = settings_nearest(key);
    return status_fail(STATUS_INPUT, "unknown key '%.60s'; did you mean '%s' of [%s]? ('bnsweep keys' lists all)", key, nearest,
        settings_section_names[settings_table[settings_find(nearest)].section]);
}

static enum status check_place(int key, const char *section, enum grid_place place)
{
    enum settings_section home = settings_table[key].section;
    const char *home_name = settings_section_names[home];
    if (place == GRID_BASE && find_section(section) != (int)home)
        return status_fail(STATUS_INPUT, "'%s' does not belong here; put it into [%s]", settings_table[key].key, home_name);
    if (place == GRID_BASE)
        return STATUS_OK;
    if (home == SETTINGS_SECTION_SWEEP || home == SETTINGS_SECTION_MEASURE)
        return status_fail(STATUS_INPUT,
            "'%s' holds for the whole sweep; put it into [%s] (allowed here: keys of [task], [network], [train])",
            settings_table[key].key, home_name);
    if (key == SETTING_channels && place == GRID_GRID)
        return status_fail(
            STATUS_INPUT, "channels cannot be an axis, since a store has one network shape; put it into [network]");
    return STATUS_OK;
}

/* Make an entry's relative paths start at the sweep file's folder. */
static enum status resolve_paths(const struct grid *grid, struct axis *axis)
{
    const char *plain = settings_table[axis->key].default_text;
    for (size_t i = 0; i < axis->count; i++) {
        char *value = (char *)axis->values + i * axis->size, path[2 * SETTINGS_PATH_SIZE];
        if (value[0] == '/' || (plain && strcmp(value, plain) == 0))
            continue;
        snprintf(path, sizeof path, "%s/%s", grid->folder, value);
        struct settings scratch = {0};
        enum status status = settings_text_set(&scratch, axis->key, path);
        if (status)
            return status;
        memcpy(value, (const char *)&scratch + settings_table[axis->key].offset, axis->size);
    }
    return STATUS_OK;
}

/* Fill the new entry's values; its other fields are set. */
static enum status add_entry(struct grid *grid, struct grid_entry entry)
{
    struct grid_entry *kept = &grid->entries[grid->entry_count];
    *kept = entry;
    kept->section = copy(grid, entry.section, strlen(entry.section));
    kept->text = copy(grid, entry.text, strlen(entry.text));
    if (!kept->section || !kept->text)
        return STATUS_NOMEM;
    grid->entry_count++;
    enum status status = axis_parse(kept->key, kept->text, &kept->axis);
    if (!status && settings_table[kept->key].type == SETTINGS_TYPE_PATH)
        status = resolve_paths(grid, &kept->axis);
    if (!status && kept->key == SETTING_channels && kept->axis.count > 1)
        status = status_fail(STATUS_INPUT,
            "channels cannot vary, since a store has one network shape; block widths are joined by dashes, as in 32-64-64");
    return grid_blame(grid, kept, status);
}

static enum status read_entry(struct grid *grid, const struct inifile *file, const struct inifile_entry *source)
{
    const char *section = file->sections[source->section].name, *arm = arm_name(section);
    struct grid_entry entry = {.line = source->line, .section = section, .text = source->value};
    entry.place = arm ? GRID_ARM : strcmp(section, "grid") == 0 ? GRID_GRID : GRID_BASE;
    while (arm && strcmp(grid->arms[entry.arm].name, arm) != 0)
        entry.arm++;
    enum status status = find_key(source->key, &entry.key);
    if (!status)
        status = check_place(entry.key, section, entry.place);
    if (status)
        return status_context(status, "%s:%d: [%s] %s = %.100s", grid->path, source->line, section, source->key, source->value);
    return add_entry(grid, entry);
}

static enum status read_override(struct grid *grid, const char *override)
{
    char text[2 * SETTINGS_PATH_SIZE];
    const char *equals = strchr(override, '=');
    if (!equals || equals == override || strlen(override) >= sizeof text)
        return status_fail(STATUS_INPUT, "--set %.100s: allowed: --set KEY=VALUE", override);
    size_t key_length = (size_t)(equals - override);
    while (key_length > 1 && override[key_length - 1] == ' ')
        key_length--;
    memcpy(text, override, key_length);
    text[key_length] = 0;
    struct grid_entry entry = {.place = GRID_OVERRIDE, .section = ""};
    enum status status = find_key(text, &entry.key);
    if (status)
        return status_context(status, "--set %.100s", override);
    for (size_t i = 0; i < grid->entry_count; i++) {
        struct grid_entry *other = &grid->entries[i];
        if (other->key == entry.key && other->place == GRID_OVERRIDE)
            return status_fail(STATUS_INPUT, "--set %.100s: the key is set twice, before with '%.100s'", override, other->text);
        other->overridden = other->overridden || other->key == entry.key;
    }
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    size_t length = strlen(value);
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    memcpy(text, value, length);
    text[length] = 0;
    entry.text = text;
    return add_entry(grid, entry);
}

enum status grid_read(struct grid *grid, const struct inifile *file, const char *const *overrides, size_t count)
{
    grid->entries = arena_array(&grid->arena, file->entry_count + count, sizeof *grid->entries);
    if (!grid->entries)
        return STATUS_NOMEM;
    enum status status = read_sections(grid, file);
    for (size_t i = 0; !status && i < file->entry_count; i++)
        status = read_entry(grid, file, &file->entries[i]);
    for (size_t i = 0; !status && i < count; i++)
        status = read_override(grid, overrides[i]);
    return status;
}

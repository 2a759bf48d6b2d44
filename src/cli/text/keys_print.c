#include "keys_print.h"

#include "bnsweep/store/layout.h"
#include "bnsweep/sweep/settings_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char grid_help[] =
    "[grid]      any key of [task], [network] or [train] with several values: an axis. All axes multiply; the last varies fastest.\n"
    "              lr = 1e-3, 3e-3, 1e-2        a list\n"
    "              seed = 0..9                  whole numbers, both ends included; 0..90:10 in steps of 10\n"
    "              lr = 1e-4..1e-2 log 5        5 values in geometric progression\n"
    "[arm NAME]  such keys for one group of units, as many sections as there are groups; a list multiplies within the arm.\n"
    "            Every arm has the axes of [grid] too. A key of an arm wins over the same key of [task], [network] or [train].\n"
    "In [measure], which has no axes, a comma makes a list. Relative paths start at the file's folder.\n";

static const char *default_of(const struct setting *setting)
{
    return setting->default_text ? setting->default_text : "required";
}

static bool is_shown(int key, int only)
{
    return settings_table[key].section != SETTINGS_SECTION_DERIVED && (only == KEYS_PRINT_ALL || only == key);
}

/* Text for a cell of a Markdown table. */
static void print_cell(const char *text)
{
    printf("| ");
    for (; *text; text++)
        printf("%s%c", *text == '|' ? "\\" : "", *text);
    printf(" ");
}

static void print_setting_row(int key)
{
    const struct setting *setting = &settings_table[key];
    char allowed[SETTINGS_VALUE_SIZE];
    settings_text_allowed(key, allowed);
    const char *when = settings_condition_texts[setting->condition];
    const char *cells[] = {setting->key, settings_type_names[setting->type], allowed, default_of(setting), *when ? when : "always",
                           setting->help};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        print_cell(cells[i]);
    printf("|\n");
}

static void print_setting(int key, int width, int default_width)
{
    const struct setting *setting = &settings_table[key];
    char allowed[SETTINGS_VALUE_SIZE];
    settings_text_allowed(key, allowed);
    const char *when = settings_condition_texts[setting->condition];
    printf("  %-*s  %-*s  %s\n", width, setting->key, default_width, default_of(setting), setting->help);
    printf("  %*s  %s%s%s\n", width + default_width + 2, "", allowed, *when ? "; read where " : "", when);
}

static void find_widths(int only, int *width, int *default_width)
{
    *width = *default_width = 0;
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        int length = (int)strlen(settings_table[key].key), default_length = (int)strlen(default_of(&settings_table[key]));
        if (is_shown(key, only)) {
            *width = length > *width ? length : *width;
            *default_width = default_length > *default_width ? default_length : *default_width;
        }
    }
}

static void print_settings(bool markdown, int only)
{
    int width, default_width, section = -1;
    find_widths(only, &width, &default_width);
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        if (!is_shown(key, only))
            continue;
        bool first = (int)settings_table[key].section != section;
        section = (int)settings_table[key].section;
        if (first)
            printf(markdown ? "\n### [%s]\n\n| key | type | allowed | default | read | meaning |\n|---|---|---|---|---|---|\n" : "[%s]\n",
                   settings_section_names[section]);
        if (markdown)
            print_setting_row(key);
        else
            print_setting(key, width, default_width);
    }
    if (only == KEYS_PRINT_ALL)
        printf(markdown ? "\n### [grid] and [arm NAME]\n\n```\n%s```\n" : "\n%s", grid_help);
}

static json_t *setting_json(int key)
{
    const struct setting *setting = &settings_table[key];
    char allowed[SETTINGS_VALUE_SIZE];
    settings_text_allowed(key, allowed);
    bool axis = setting->section != SETTINGS_SECTION_SWEEP && setting->section != SETTINGS_SECTION_MEASURE;
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:b, s:s}", "section", settings_section_names[setting->section], "key",
                            setting->key, "type", settings_type_names[setting->type], "allowed", allowed, "default",
                            setting->default_text, "read", settings_condition_texts[setting->condition], "axis", (int)axis, "help",
                            setting->help);
    json_t *choices = json_array();
    for (int i = 0; setting->range.names && i <= (int)setting->range.high; i++)
        json_array_append_new(choices, json_string(setting->range.names[i]));
    json_object_set_new(out, "choices", choices);
    return out;
}

/* "unit, check, channel" */
static void format_axes(int id, char out[64])
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    int rank = layout_variable_axes((enum variable_id)id, axes);
    size_t used = 0;
    for (int i = 0; i < rank; i++)
        used += (size_t)snprintf(out + used, 64 - used, "%s%s", i ? ", " : "", layout_axes_table[axes[i]].name);
}

static void print_variables(bool markdown, int only)
{
    char axes[64];
    if (markdown)
        printf("| variable | axes | units | meaning |\n|---|---|---|---|\n");
    for (int id = 0; id < VARIABLE_COUNT; id++) {
        const struct variable *variable = &variables_table[id];
        if (only != KEYS_PRINT_ALL && only != id)
            continue;
        format_axes(id, axes);
        const char *cells[] = {variable->name, axes, variable->units, variable->long_name};
        for (int i = 0; markdown && i < 4; i++)
            print_cell(cells[i]);
        if (markdown)
            printf("|\n");
        else
            printf("%-15s  %-22s  %-10s  %s\n", cells[0], cells[1], cells[2], cells[3]);
    }
}

static json_t *variable_json(int id)
{
    const struct variable *variable = &variables_table[id];
    enum layout_axis axes[LAYOUT_MAX_RANK];
    int rank = layout_variable_axes((enum variable_id)id, axes);
    json_t *names = json_array();
    for (int i = 0; i < rank; i++)
        json_array_append_new(names, json_string(layout_axes_table[axes[i]].name));
    return json_pack("{s:s, s:o, s:s, s:s}", "name", variable->name, "axes", names, "units", variable->units, "meaning",
                     variable->long_name);
}

static enum status print_json(json_t *value)
{
    int failed = value ? json_dumpf(value, stdout, JSON_INDENT(1)) : -1;
    json_decref(value);
    printf("\n");
    return !failed || ferror(stdout) ? STATUS_OK : status_fail(STATUS_NOMEM, "could not write JSON"); /* main sees to stdout */
}

enum status keys_print_settings(enum keys_print_form form, int only)
{
    if (form != KEYS_PRINT_JSON) {
        print_settings(form == KEYS_PRINT_MARKDOWN, only);
        return STATUS_OK;
    }
    json_t *out = json_array();
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (is_shown(key, only))
            json_array_append_new(out, setting_json(key));
    return print_json(out);
}

enum status keys_print_variables(enum keys_print_form form, int only)
{
    if (form != KEYS_PRINT_JSON) {
        print_variables(form == KEYS_PRINT_MARKDOWN, only);
        return STATUS_OK;
    }
    json_t *out = json_array();
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (only == KEYS_PRINT_ALL || only == id)
            json_array_append_new(out, variable_json(id));
    return print_json(out);
}

#include "bnsweep/sweep/settings_text.h"

#include "bnsweep/sweep/number.h"
#include "bnsweep/sweep/settings_check.h"
#include "bnsweep/sweep/settings_parse.h"

#include <stdio.h>
#include <string.h>

static const void *field_in(const struct settings *settings, int key)
{
    return (const char *)settings + settings_table[key].offset;
}

void settings_text_allowed(int key, char out[SETTINGS_VALUE_SIZE])
{
    const struct setting *setting = &settings_table[key];
    const char *type = settings_type_names[setting->type];
    switch (setting->type) {
    case SETTINGS_TYPE_INT:
    case SETTINGS_TYPE_REAL: snprintf(out, SETTINGS_VALUE_SIZE, "a %s, %s", type, setting->range.text); break;
    case SETTINGS_TYPE_SEED: snprintf(out, SETTINGS_VALUE_SIZE, "per-seed, or a whole number, %s", setting->range.text); break;
    case SETTINGS_TYPE_CHANNELS:
        snprintf(out, SETTINGS_VALUE_SIZE, "1 to %d %s, each %s", SETTINGS_MAX_BLOCKS, type, setting->range.text);
        break;
    case SETTINGS_TYPE_INTS:
    case SETTINGS_TYPE_REALS:
        snprintf(out, SETTINGS_VALUE_SIZE, "1 to %d different numbers joined by commas, each %s", SETTINGS_MAX_LIST,
            setting->range.text);
        break;
    default: snprintf(out, SETTINGS_VALUE_SIZE, "%s", setting->range.text);
    }
}

enum status settings_text_set(struct settings *settings, int key, const char *text)
{
    const char *wrong = settings_parse(settings, key, text);
    if (!wrong)
        return STATUS_OK;
    char allowed[SETTINGS_VALUE_SIZE];
    settings_text_allowed(key, allowed);
    return status_fail(STATUS_INPUT, "'%.100s' %s; allowed: %s", text, wrong, allowed);
}

/* Formatted printing is slow, and a million units are written down. */
static void copy_text(const char *text, char out[SETTINGS_VALUE_SIZE])
{
    size_t length = strlen(text), room = SETTINGS_VALUE_SIZE - 1;
    length = length < room ? length : room;
    memcpy(out, text, length);
    out[length] = '\0';
}

static void format_ints(const struct settings_ints *list, char separator, char out[SETTINGS_VALUE_SIZE])
{
    _Static_assert(SETTINGS_MAX_BLOCKS * NUMBER_SIZE < SETTINGS_VALUE_SIZE, "the longest list has room");
    size_t used = 0;
    for (int i = 0; i < list->count; i++) {
        if (i)
            out[used++] = separator;
        number_format_int(list->values[i], out + used);
        used += strlen(out + used);
    }
}

static void format_reals(const struct settings_reals *list, char out[SETTINGS_VALUE_SIZE])
{
    size_t used = 0;
    for (int i = 0; i < list->count; i++) {
        char number[NUMBER_SIZE];
        number_format(list->values[i], number);
        used += (size_t)snprintf(out + used, SETTINGS_VALUE_SIZE - used, "%s%s", i ? "," : "", number);
    }
}

static void format_freeze(int64_t mask, char out[SETTINGS_VALUE_SIZE])
{
    size_t used = 0;
    for (int block = 1; block <= SETTINGS_MAX_BLOCKS; block++)
        if (mask & (int64_t)1 << (block - 1))
            used += (size_t)snprintf(out + used, SETTINGS_VALUE_SIZE - used, "%sconv%d", used ? "-" : "", block);
    if (mask & SETTINGS_FREEZE_LINEAR)
        snprintf(out + used, SETTINGS_VALUE_SIZE - used, "%slinear", used ? "-" : "");
    if (!mask)
        snprintf(out, SETTINGS_VALUE_SIZE, "none");
}

void settings_text_format(const struct settings *settings, int key, char out[SETTINGS_VALUE_SIZE])
{
    const void *field = field_in(settings, key);
    out[0] = 0;
    switch (settings_table[key].type) {
    case SETTINGS_TYPE_SEED:
        if (*(const int64_t *)field == SETTINGS_PER_SEED) {
            copy_text("per-seed", out);
            break;
        } /* fall through */
    case SETTINGS_TYPE_INT: number_format_int(*(const int64_t *)field, out); break;
    case SETTINGS_TYPE_REAL: number_format(*(const double *)field, out); break;
    case SETTINGS_TYPE_BOOL: copy_text(*(const bool *)field ? "yes" : "no", out); break;
    case SETTINGS_TYPE_CHOICE:
        copy_text(settings_table[key].range.names[*(const int *)field], out);
        break;
    case SETTINGS_TYPE_NAME:
    case SETTINGS_TYPE_PATH:
    case SETTINGS_TYPE_DIGEST: copy_text(field, out); break;
    case SETTINGS_TYPE_FREEZE: format_freeze(*(const int64_t *)field, out); break;
    case SETTINGS_TYPE_CHANNELS: format_ints(field, '-', out); break;
    case SETTINGS_TYPE_INTS: format_ints(field, ',', out); break;
    case SETTINGS_TYPE_REALS: format_reals(field, out); break;
    case SETTINGS_TYPE_COUNT: break;
    }
}

void settings_text_write(const struct settings *settings, char out[SETTINGS_TEXT_SIZE])
{
    size_t used = 0;
    out[0] = 0;
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        if (!settings_relevant(settings, key))
            continue;
        char value[SETTINGS_VALUE_SIZE];
        settings_text_format(settings, key, value);
        used += (size_t)snprintf(out + used, SETTINGS_TEXT_SIZE - used, "%s = %s\n", settings_table[key].key, value);
    }
}

static int find_any(const char *key, size_t length)
{
    for (int i = 0; i < SETTINGS_COUNT; i++)
        if (strlen(settings_table[i].key) == length && memcmp(settings_table[i].key, key, length) == 0)
            return i;
    return -1;
}

static enum status read_line(const char *line, size_t length, bool given[SETTINGS_COUNT], struct settings *out)
{
    static const char equals[] = " = ";
    const char *middle = memmem(line, length, equals, 3);
    if (!middle)
        return status_fail(STATUS_INPUT, "settings: no ' = ' in '%.*s'", (int)(length < 100 ? length : 100), line);
    int key = find_any(line, (size_t)(middle - line));
    if (key < 0)
        return status_fail(STATUS_INPUT, "settings: unknown key in '%.*s'", (int)(length < 100 ? length : 100), line);
    if (given[key])
        return status_fail(STATUS_INPUT, "settings: %s twice", settings_table[key].key);
    given[key] = true;
    char value[SETTINGS_VALUE_SIZE];
    size_t size = (size_t)(line + length - middle) - 3;
    if (size >= sizeof value)
        return status_fail(STATUS_INPUT, "settings: the value of %s is too long", settings_table[key].key);
    memcpy(value, middle + 3, size);
    value[size] = 0;
    return status_context(settings_text_set(out, key, value), "settings: %s", settings_table[key].key);
}

enum status settings_text_read(const char *text, struct settings *out)
{
    bool given[SETTINGS_COUNT] = {false};
    settings_defaults(out);
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        if (!end)
            return status_fail(STATUS_INPUT, "settings: the last line is cut off");
        enum status status = read_line(text, (size_t)(end - text), given, out);
        if (status)
            return status;
    }
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (given[key] != settings_relevant(out, key))
            return status_fail(STATUS_INPUT, "settings: %s is %s", settings_table[key].key,
                given[key] ? "not read in this combination" : "missing");
    int blamed;
    return status_context(settings_check(out, given, &blamed), "settings");
}

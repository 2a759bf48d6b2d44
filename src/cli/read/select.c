#include "select.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/nearest.h"
#include "bnsweep/sweep/settings_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_SIZE = 300, LIST_VALUES = 8 };

/* Write " (a, b, c, ...)": a column's values. */
static void list_values(const struct frame_column *column, char out[LIST_SIZE])
{
    size_t at = 0;
    for (size_t i = 0; i < column->count && at < LIST_SIZE; i++) {
        bool cut = i == LIST_VALUES;
        const char *value = *column->values[i] ? column->values[i] : "-";
        at += (size_t)snprintf(out + at, LIST_SIZE - at, "%s%s", i ? ", " : "", cut ? "..." : value);
        if (cut)
            break;
    }
}

static enum status find_value(const struct frame_column *column, const char *value, const char *text, uint32_t *code)
{
    char list[LIST_SIZE] = "";
    for (size_t i = 0; i < column->count; i++)
        if (strcmp(column->values[i], value) == 0) {
            *code = (uint32_t)i;
            return STATUS_OK;
        }
    list_values(column, list);
    return status_fail(STATUS_INPUT, "no unit has %s = '%s'; there are: %s", column->label, text, list);
}

static enum status find_setting(const struct frame *frame, const char *label, size_t length, const struct frame_column **out)
{
    const char *names[SETTINGS_COUNT];
    char name[LAYOUT_NAME_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < frame->setting_count; i++) {
        *out = &frame->settings[i];
        if (strlen((*out)->label) == length && strncmp((*out)->label, label, length) == 0)
            return STATUS_OK;
        if (count < SETTINGS_COUNT)
            names[count++] = (*out)->label;
    }
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), label);
    return status_fail(STATUS_INPUT, "there is no setting '%s'; did you mean '%s'?", name, count ? nearest_name(name, names, count) : "");
}

/* Strike out the units that do not meet one condition. */
static enum status apply(const struct frame *frame, char *condition, bool *meets)
{
    char value[SETTINGS_VALUE_SIZE], *equals = strchr(condition, '=');
    const struct frame_column *column = &frame->arm;
    const char *text = equals ? equals + 1 : condition;
    uint32_t code = 0;
    enum status status = STATUS_OK;
    if (equals)
        status = find_setting(frame, condition, (size_t)(equals - condition), &column);
    if (status)
        return status;
    snprintf(value, sizeof value, "%s", text);
    if (column->key >= 0 && *text) {
        struct settings settings;
        settings_defaults(&settings);
        status = status_context(settings_text_set(&settings, column->key, text), "%s", column->label);
        if (!status)
            settings_text_format(&settings, column->key, value);
    }
    if (!status)
        status = find_value(column, value, text, &code);
    for (size_t row = 0; !status && row < frame->rows; row++)
        meets[row] = meets[row] && frame_code(column, row) == code;
    return status;
}

/* Whether the chosen units differ in the column. */
static bool differs(const struct frame *frame, const struct frame_column *column, const bool *meets, size_t first)
{
    for (size_t row = first; row < frame->rows; row++)
        if (meets[row] && frame_code(column, row) != frame_code(column, first))
            return true;
    return false;
}

static enum status refuse_several(const struct frame *frame, const char *text, const bool *meets, size_t first, size_t count)
{
    char apart[1024] = "", list[LIST_SIZE];
    size_t at = 0;
    for (size_t i = 0; i <= frame->setting_count && at < sizeof apart; i++) {
        const struct frame_column *column = i == 0 ? &frame->arm : &frame->settings[i - 1];
        if (column->key == SETTING_file_hash || column->key == SETTING_init_hash || !differs(frame, column, meets, first))
            continue;
        list_values(column, list);
        at += (size_t)snprintf(apart + at, sizeof apart - at, "%s%s (%s)", at ? "; " : "", i == 0 ? "the arm" : column->label, list);
    }
    return status_fail(STATUS_INPUT, "%zu units are '%s', the first in row %zu; they differ in %s", count, text, first, apart);
}

static enum status find_only(const struct frame *frame, const char *text, const bool *meets, size_t *row)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->rows; i++)
        if (meets[i] && count++ == 0)
            *row = i;
    if (count == 1)
        return STATUS_OK;
    return count ? refuse_several(frame, text, meets, *row, count)
                 : status_fail(STATUS_INPUT, "no unit is '%s': each condition alone is met, but not all of them together", text);
}

enum status select_unit(const struct frame *frame, const char *text, size_t *row)
{
    if (*text && strspn(text, "0123456789") == strlen(text)) {
        unsigned long long number = strtoull(text, NULL, 10);
        *row = (size_t)number;
        return number < frame->rows ? STATUS_OK
                                    : status_fail(STATUS_INPUT, "there is no unit %s: %s has %zu", text, frame->path, frame->rows);
    }
    char *copy = mem_text(text), *rest;
    bool *meets = mem_array(frame->rows, sizeof *meets);
    enum status status = copy && meets ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < frame->rows; i++)
        meets[i] = true;
    for (char *one = status ? NULL : strtok_r(copy, ",", &rest); one && !status; one = strtok_r(NULL, ",", &rest))
        status = apply(frame, one, meets);
    if (!status)
        status = find_only(frame, text, meets, row);
    mem_free(copy);
    mem_free(meets);
    return status;
}

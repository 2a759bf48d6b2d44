#include "frame.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/number.h"
#include "bnsweep/sweep/settings_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 8 << 20 };

/* A column as read: texts or numbers, [rows]. */
struct raw {
    enum layout_type type;
    size_t rows;
    char **texts;  /* owned, each too */
    double *reals; /* owned */
};

static int compare_values(const struct raw *raw, size_t a, size_t b)
{
    if (raw->type == LAYOUT_TEXT)
        return strcmp(raw->texts[a], raw->texts[b]);
    double x = raw->reals[a], y = raw->reals[b];
    if (isnan(x) || isnan(y))
        return isnan(y) - isnan(x);
    return (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b, void *raw)
{
    return compare_values(raw, *(const uint32_t *)a, *(const uint32_t *)b);
}

static enum status read_raw(const struct reader *reader, const char *name, struct raw *raw)
{
    if (raw->type != LAYOUT_TEXT) {
        raw->reals = mem_array(raw->rows, sizeof *raw->reals);
        return raw->reals ? reader_reals(reader, name, 0, raw->rows, raw->reals) : STATUS_NOMEM;
    }
    raw->texts = mem_array(raw->rows, sizeof *raw->texts);
    return raw->texts ? reader_texts(reader, name, 0, raw->rows, raw->texts) : STATUS_NOMEM;
}

static void free_raw(struct raw *raw)
{
    for (size_t i = 0; raw->texts && i < raw->rows; i++)
        mem_free(raw->texts[i]);
    mem_free(raw->texts);
    mem_free(raw->reals);
}

static const char *keep_text(struct arena *arena, const char *text)
{
    char *copy = arena_array(arena, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* A value in the form that settings_text_format gives it: whole numbers that are stored as reals, too, have no exponent. */
static const char *keep_value(struct arena *arena, const struct frame_column *column, const struct raw *raw, size_t row)
{
    char text[64] = "";
    if (raw->type == LAYOUT_TEXT)
        return keep_text(arena, raw->texts[row]);
    double value = raw->reals[row];
    bool whole = raw->type == LAYOUT_INTEGER || (column->key >= 0 && settings_table[column->key].type == SETTINGS_TYPE_INT);
    if (whole && fabs(value) < 1e18)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
    else if (isfinite(value))
        number_format(value, text);
    else if (!isnan(value))
        snprintf(text, sizeof text, "%g", value);
    return keep_text(arena, text);
}

/* Number the distinct values through `order` [rows], which sorts them. */
static enum status number_values(struct arena *arena, struct frame_column *column, const struct raw *raw, const uint32_t *order)
{
    column->codes = arena_array(arena, raw->rows, sizeof *column->codes);
    column->count = 1;
    for (size_t i = 1; i < raw->rows; i++)
        column->count += compare_values(raw, order[i - 1], order[i]) != 0;
    column->values = arena_array(arena, column->count, sizeof *column->values);
    if (!column->codes || !column->values)
        return STATUS_NOMEM;
    uint32_t code = 0;
    for (size_t i = 0; i < raw->rows; i++) {
        code += i > 0 && compare_values(raw, order[i - 1], order[i]) != 0;
        column->codes[order[i]] = code;
        if (!column->values[code] && !(column->values[code] = keep_value(arena, column, raw, order[i])))
            return STATUS_NOMEM;
    }
    return STATUS_OK;
}

static enum status intern(struct arena *arena, struct frame_column *column, const struct raw *raw)
{
    bool same = true;
    for (size_t i = 1; same && i < raw->rows; i++)
        same = compare_values(raw, 0, i) == 0;
    if (same) {
        column->count = raw->rows > 0;
        column->values = arena_array(arena, column->count, sizeof *column->values);
        if (column->values && column->count)
            column->values[0] = keep_value(arena, column, raw, 0);
        return column->values && (!column->count || column->values[0]) ? STATUS_OK : STATUS_NOMEM;
    }
    uint32_t *order = mem_array(raw->rows, sizeof *order);
    if (!order)
        return STATUS_NOMEM;
    for (size_t i = 0; i < raw->rows; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, raw->rows, sizeof *order, compare_rows, (void *)(uintptr_t)raw);
    enum status status = number_values(arena, column, raw, order);
    mem_free(order);
    return status;
}

static int find_key(const char *column)
{
    char name[LAYOUT_NAME_SIZE];
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        layout_column_name(settings_table[key].key, name);
        if (strcmp(name, column) == 0)
            return key;
    }
    return -1;
}

static enum status read_column(struct frame *frame, const char *name, enum layout_type type, bool setting, struct frame_column *out)
{
    struct raw raw = {.type = type, .rows = frame->rows};
    snprintf(out->name, sizeof out->name, "%s", name);
    out->type = type;
    out->key = setting ? find_key(name) : -1;
    out->label = out->key >= 0 ? settings_table[out->key].key : out->name;
    enum status status = read_raw(frame->reader, name, &raw);
    if (!status)
        status = intern(&frame->arena, out, &raw);
    free_raw(&raw);
    return status;
}

static enum status read_settings(struct frame *frame)
{
    size_t count = reader_column_count(frame->reader);
    frame->settings = arena_array(&frame->arena, count, sizeof *frame->settings);
    enum status status = frame->settings ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < count; i++) {
        const struct reader_column *column = reader_column(frame->reader, i);
        if (column->setting)
            status = read_column(frame, column->name, column->type, true, &frame->settings[frame->setting_count++]);
    }
    return status;
}

static enum status read_status(struct frame *frame)
{
    int64_t *numbers = mem_array(frame->rows, sizeof *numbers);
    frame->status = arena_array(&frame->arena, frame->rows, sizeof *frame->status);
    enum status status = numbers && frame->status ? STATUS_OK : STATUS_NOMEM;
    if (!status)
        status = reader_integers(frame->reader, layout_columns_table[COLUMN_status].name, 0, frame->rows, numbers);
    for (size_t i = 0; !status && i < frame->rows; i++) {
        if (numbers[i] < 0 || numbers[i] >= UNIT_STATUS_COUNT)
            status = status_fail(STATUS_CORRUPT, "%s: row %zu has the status %" PRId64, frame->path, i, numbers[i]);
        else
            frame->status[i] = (enum unit_status)numbers[i];
    }
    mem_free(numbers);
    return status;
}

static enum status read_layers(struct frame *frame)
{
    size_t count = frame->extent->layers;
    char **texts = mem_array(count, sizeof *texts);
    frame->layers = arena_array(&frame->arena, count, sizeof *frame->layers);
    enum status status = texts && frame->layers ? STATUS_OK : STATUS_NOMEM;
    if (!status && count)
        status = reader_axis_texts(frame->reader, layout_axes_table[AXIS_LAYER].name, texts);
    for (size_t i = 0; !status && i < count; i++)
        if (!(frame->layers[i] = keep_text(&frame->arena, texts[i])))
            status = STATUS_NOMEM;
    for (size_t i = 0; texts && i < count; i++)
        mem_free(texts[i]);
    mem_free(texts);
    return status;
}

/* The channels come layer by layer, so that the last layer's are the end. */
static void find_last_layer(struct frame *frame)
{
    size_t channels = frame->extent->channels, first = channels;
    while (first > 0 && frame->channel_layer[first - 1] == frame->channel_layer[channels - 1])
        first--;
    frame->last_first = first;
    frame->last_count = channels - first;
}

static enum status read_axes(struct frame *frame)
{
    const struct variables_extent *extent = frame->extent;
    frame->steps = arena_array(&frame->arena, extent->checks, sizeof *frame->steps);
    frame->channel_layer = arena_array(&frame->arena, extent->channels, sizeof *frame->channel_layer);
    frame->channel_index = arena_array(&frame->arena, extent->channels, sizeof *frame->channel_index);
    enum status status = frame->steps && frame->channel_layer && frame->channel_index ? STATUS_OK : STATUS_NOMEM;
    if (!status && extent->checks)
        status = reader_axis_integers(frame->reader, layout_axes_table[AXIS_CHECK].name, frame->steps);
    if (!status && extent->channels)
        status = reader_axis_integers(frame->reader, "channel_layer", frame->channel_layer);
    if (!status && extent->channels)
        status = reader_axis_integers(frame->reader, "channel_index", frame->channel_index);
    if (!status)
        find_last_layer(frame);
    return status ? status : read_layers(frame);
}

enum status frame_open(const char *path, struct frame *out)
{
    out->path = path;
    enum status status = reader_open(path, &out->reader);
    if (status)
        return status;
    out->rows = (size_t)reader_rows(out->reader);
    out->extent = reader_extent(out->reader);
    if (out->rows > UINT32_MAX)
        return status_fail(STATUS_NOMEM, "%s has too many units", path);
    status = read_status(out);
    if (!status)
        status = read_axes(out);
    if (!status)
        status = read_column(out, layout_columns_table[COLUMN_arm].name, LAYOUT_TEXT, false, &out->arm);
    return status ? status : read_settings(out);
}

void frame_close(struct frame *frame)
{
    reader_close(frame->reader);
    arena_free(&frame->arena);
    *frame = (struct frame){0};
}

uint32_t frame_code(const struct frame_column *column, size_t row)
{
    return column->codes ? column->codes[row] : 0;
}

const char *frame_text(const struct frame_column *column, size_t row)
{
    return column->values[frame_code(column, row)];
}

const struct frame_column *frame_setting(const struct frame *frame, enum settings_key key)
{
    for (size_t i = 0; i < frame->setting_count; i++)
        if (frame->settings[i].key == (int)key)
            return &frame->settings[i];
    return NULL;
}

bool frame_changes_numbers(const struct frame_column *column)
{
    return column->key < 0 || settings_table[column->key].numbers;
}

enum status frame_settings(const struct frame *frame, size_t row, struct settings *out)
{
    settings_defaults(out);
    for (size_t i = 0; i < frame->setting_count; i++) {
        const struct frame_column *column = &frame->settings[i];
        const char *text = frame_text(column, row), *wrong = NULL;
        if (column->key >= 0 && *text)
            wrong = settings_parse(out, column->key, text);
        if (wrong)
            return status_fail(STATUS_CORRUPT, "%s: unit %zu: %s: '%.100s' %s", frame->path, row, column->label, text, wrong);
    }
    return STATUS_OK;
}

size_t frame_block(size_t largest)
{
    size_t rows = BLOCK_BYTES / sizeof(float) / (largest ? largest : 1);
    return rows ? rows : 1;
}

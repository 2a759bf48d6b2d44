#include "bnsweep/sweep/axis.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/number.h"
#include "bnsweep/sweep/settings_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_SIZE = SETTINGS_PATH_SIZE };

static bool is_whole(int key)
{
    return settings_table[key].type == SETTINGS_TYPE_INT || settings_table[key].type == SETTINGS_TYPE_SEED;
}

static bool is_numeric(int key)
{
    return is_whole(key) || settings_table[key].type == SETTINGS_TYPE_REAL;
}

/* Make room for `more` values. `capacity` is kept by the caller. */
static enum status reserve(struct axis *axis, size_t *capacity, size_t more)
{
    if (more > AXIS_MAX_VALUES || axis->count + more > AXIS_MAX_VALUES)
        return status_fail(STATUS_INPUT, "more than %d values", AXIS_MAX_VALUES);
    size_t wanted = axis->count + more;
    if (wanted <= *capacity)
        return STATUS_OK;
    if (wanted < 2 * *capacity)
        wanted = 2 * *capacity;
    unsigned char *grown = mem_grow(axis->values, *capacity, wanted, axis->size);
    if (!grown)
        return STATUS_NOMEM;
    axis->values = grown;
    *capacity = wanted;
    return STATUS_OK;
}

static enum status append_text(struct axis *axis, size_t *capacity, const char *text)
{
    struct settings scratch = {0};
    enum status status = settings_text_set(&scratch, axis->key, text);
    if (!status)
        status = reserve(axis, capacity, 1);
    if (!status)
        memcpy(axis->values + axis->size * axis->count++, (const char *)&scratch + settings_table[axis->key].offset, axis->size);
    return status;
}

/* Append a number that lies between two checked ends. */
static void append_number(struct axis *axis, double value)
{
    int64_t whole = is_whole(axis->key) ? llround(value) : 0;
    memcpy(
        axis->values + axis->size * axis->count++, is_whole(axis->key) ? (const void *)&whole : (const void *)&value, axis->size);
}

/* A range's parts: "A..B", and ":STEP" or " log N". */
struct range {
    double first, last, step;
    int64_t points; /* of a log range, else 0 */
};

static const char range_forms[] = "allowed ranges: A..B for whole numbers, A..B:STEP, A..B log N";

/* Read and range-check one end. */
static enum status read_end(int key, const char *text, double *out)
{
    struct settings scratch = {0};
    enum status status = settings_text_set(&scratch, key, text);
    const char *wrong = status ? NULL : number_real(text, out);
    return wrong ? status_fail(STATUS_INPUT, "'%s' %s; %s", text, wrong, range_forms) : status;
}

static void trim(char *text)
{
    size_t length = strlen(text), skip = strspn(text, " \t");
    while (length > skip && strchr(" \t", text[length - 1]))
        length--;
    memmove(text, text + skip, length - skip);
    text[length - skip] = 0;
}

/* Read what follows the last value: `text` is cut before it. */
static enum status read_stride(int key, char *last, struct range *out)
{
    char *colon = strchr(last, ':'), *word = strstr(last, " log ");
    out->step = is_whole(key) ? 1 : 0;
    if (colon) {
        *colon = 0;
        trim(colon + 1);
        const char *wrong = number_real(colon + 1, &out->step);
        if (wrong || !(out->step > 0) || (is_whole(key) && floor(out->step) != out->step))
            return status_fail(STATUS_INPUT, "step '%s' %s; allowed: a %s, > 0", colon + 1, wrong ? wrong : "leads nowhere",
                is_whole(key) ? "whole number" : "number");
    } else if (word) {
        *word = 0;
        trim(word + 5);
        const char *wrong = number_int(word + 5, &out->points);
        if (wrong || out->points < 2 || out->points > AXIS_MAX_VALUES)
            return status_fail(STATUS_INPUT, "'%s' points; allowed: a whole number, 2..%d", word + 5, AXIS_MAX_VALUES);
    } else if (!is_whole(key)) {
        return status_fail(STATUS_INPUT, "the range has no step; %s", range_forms);
    }
    trim(last);
    return STATUS_OK;
}

static enum status read_range(int key, char *item, struct range *out)
{
    char *dots = strstr(item, ".."), *last = dots + 2;
    *dots = 0;
    trim(item);
    *out = (struct range){0};
    enum status status = read_stride(key, last, out);
    if (!status)
        status = read_end(key, item, &out->first);
    if (!status)
        status = read_end(key, last, &out->last);
    if (status)
        return status;
    if (out->first > out->last)
        return status_fail(STATUS_INPUT, "the range goes backwards, from %s to %s; write the smaller value first", item, last);
    if (out->points && !(out->first > 0))
        return status_fail(STATUS_INPUT, "a log range from %s; allowed: from a number, > 0", item);
    return STATUS_OK;
}

static enum status append_log(struct axis *axis, size_t *capacity, const struct range *range)
{
    enum status status = reserve(axis, capacity, (size_t)range->points);
    if (status)
        return status;
    double ratio = log(range->last / range->first);
    for (int64_t i = 0; i < range->points; i++) {
        double inner = range->first * exp(ratio * (double)i / (double)(range->points - 1));
        append_number(axis, i == 0 ? range->first : i == range->points - 1 ? range->last : number_round(inner, 6));
    }
    return STATUS_OK;
}

static enum status append_linear(struct axis *axis, size_t *capacity, const struct range *range)
{
    double steps = floor((range->last - range->first) / range->step * (1 + 1e-12) + 1e-9);
    if (!(steps < AXIS_MAX_VALUES))
        return status_fail(STATUS_INPUT, "the range has more than %d values; use a larger step", AXIS_MAX_VALUES);
    enum status status = reserve(axis, capacity, (size_t)steps + 1);
    for (size_t i = 0; !status && i <= (size_t)steps; i++) {
        double value = range->first + (double)i * range->step;
        append_number(axis, i == 0 || is_whole(axis->key) ? value : fmin(number_round(value, 12), range->last));
    }
    return status;
}

static enum status append_item(struct axis *axis, size_t *capacity, char *item)
{
    trim(item);
    if (!*item)
        return status_fail(STATUS_INPUT, "an empty item between commas; allowed: VALUE, VALUE, ...");
    if (!is_numeric(axis->key) || !strstr(item, ".."))
        return append_text(axis, capacity, item);
    char whole[ITEM_SIZE];
    memcpy(whole, item, strlen(item) + 1);
    struct range range;
    enum status status = read_range(axis->key, item, &range);
    if (!status)
        status = range.points ? append_log(axis, capacity, &range) : append_linear(axis, capacity, &range);
    return status_context(status, "range '%.100s'", whole);
}

enum status axis_parse(int key, const char *text, struct axis *out)
{
    *out = (struct axis){.key = key, .size = settings_table[key].size};
    size_t capacity = 0;
    enum settings_section section = settings_table[key].section;
    if (section == SETTINGS_SECTION_MEASURE || section == SETTINGS_SECTION_SWEEP || !*text)
        return append_text(out, &capacity, text);
    enum status status = STATUS_OK;
    for (const char *at = text; !status && at;) {
        const char *comma = strchr(at, ',');
        size_t length = comma ? (size_t)(comma - at) : strlen(at);
        char item[ITEM_SIZE];
        if (length >= sizeof item)
            return status_fail(STATUS_INPUT, "'%.60s...' is longer than %d bytes", at, ITEM_SIZE - 1);
        memcpy(item, at, length);
        item[length] = 0;
        status = append_item(out, &capacity, item);
        at = comma ? comma + 1 : NULL;
    }
    return status;
}

void axis_apply(const struct axis *axis, size_t index, struct settings *settings)
{
    memcpy((char *)settings + settings_table[axis->key].offset, axis->values + index * axis->size, axis->size);
}

void axis_format(const struct axis *axis, size_t index, char out[SETTINGS_VALUE_SIZE])
{
    struct settings scratch;
    axis_apply(axis, index, &scratch);
    settings_text_format(&scratch, axis->key, out);
}

static int compare_values(const void *a, const void *b, void *context)
{
    const struct axis *axis = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = memcmp(axis->values + i * axis->size, axis->values + j * axis->size, axis->size);
    return order ? order : (i > j) - (i < j);
}

/* Drop each value that was there before. `order` and `keep` have room for axis->count. */
static void drop_repeats(struct axis *axis, size_t *order, bool *keep)
{
    for (size_t i = 0; i < axis->count; i++)
        order[i] = i;
    qsort_r(order, axis->count, sizeof *order, compare_values, axis);
    for (size_t i = 0; i < axis->count; i++)
        keep[order[i]] =
            i == 0 || memcmp(axis->values + order[i - 1] * axis->size, axis->values + order[i] * axis->size, axis->size) != 0;
    size_t kept = 0;
    for (size_t i = 0; i < axis->count; i++)
        if (keep[i])
            memmove(axis->values + kept++ * axis->size, axis->values + i * axis->size, axis->size);
    axis->count = kept;
}

enum status axis_merge(struct axis *into, const struct axis *from)
{
    size_t capacity = into->count;
    enum status status = reserve(into, &capacity, from->count);
    if (status)
        return status;
    memcpy(into->values + into->count * into->size, from->values, from->count * from->size);
    into->count += from->count;
    size_t *order = mem_array(into->count, sizeof *order);
    bool *keep = mem_array(into->count, sizeof *keep);
    if (order && keep)
        drop_repeats(into, order, keep);
    else
        status = STATUS_NOMEM;
    mem_free(order);
    mem_free(keep);
    return status;
}

void axis_free(struct axis *axis)
{
    mem_free(axis->values);
    *axis = (struct axis){0};
}

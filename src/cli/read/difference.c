#include "difference.h"

#include "origin/kept.h"
#include "origin/provenance.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/number.h"
#include "bnsweep/sweep/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 8 << 20 };

/* Begin a variable, count one difference and say whether it is to be printed, end the variable. */
struct tally {
    struct difference *to;
    const char *name;
    uint64_t different;
};

static bool count(struct tally *tally)
{
    tally->to->different++;
    return tally->different++ < (uint64_t)tally->to->most;
}

static void finish(struct tally *tally, uint64_t cells)
{
    tally->to->cells += cells;
    tally->to->variables += tally->different > 0;
    if (tally->different)
        printf("%s: %" PRIu64 " of %" PRIu64 " values differ\n", tally->name, tally->different, cells);
}

static void note(struct difference *to, const char *what, const char *name, const char *how)
{
    printf("%s %s: %s\n", what, name, how);
    to->others++;
}

/* Read a coordinate as texts; *out [length], each owned. */
static enum status read_axis(const struct reader *reader, enum layout_axis axis, size_t length, char **out)
{
    const struct layout_axis_info *info = &layout_axes_table[axis];
    if (info->type == LAYOUT_TEXT)
        return reader_axis_texts(reader, info->name, out);
    double *reals = mem_array(length, sizeof *reals);
    int64_t *integers = mem_array(length, sizeof *integers);
    enum status status = !reals || !integers            ? STATUS_NOMEM
                         : info->type == LAYOUT_INTEGER ? reader_axis_integers(reader, info->name, integers)
                                                        : reader_axis_reals(reader, info->name, reals);
    for (size_t i = 0; !status && i < length; i++) {
        char text[NUMBER_SIZE];
        if (info->type == LAYOUT_INTEGER)
            snprintf(text, sizeof text, "%" PRId64, integers[i]);
        else
            number_format(reals[i], text);
        status = (out[i] = mem_text(text)) ? STATUS_OK : STATUS_NOMEM;
    }
    mem_free(reals);
    mem_free(integers);
    return status;
}

static void free_texts(char **texts, size_t length)
{
    for (size_t i = 0; texts && i < length; i++)
        mem_free(texts[i]);
    mem_free(texts);
}

static enum status compare_axis(struct difference *to, enum layout_axis axis)
{
    size_t length = layout_length(reader_extent(to->a), axis), other = layout_length(reader_extent(to->b), axis);
    char how[256];
    bool kept = axis == AXIS_STEP || axis == AXIS_PARAMETER;
    if (kept && !to->all && (!length || !other))
        return STATUS_OK; /* one store has kept nothing */
    if (length != other) {
        snprintf(how, sizeof how, "%zu and %zu long; variables on it are not compared", length, other);
        note(to, "axis", layout_axes_table[axis].name, how);
        return STATUS_OK;
    }
    char **a = mem_array(length, sizeof *a), **b = mem_array(length, sizeof *b);
    enum status status = a && b ? STATUS_OK : STATUS_NOMEM;
    if (!status && length)
        status = read_axis(to->a, axis, length, a);
    if (!status && length)
        status = read_axis(to->b, axis, length, b);
    for (size_t i = 0; !status && i < length; i++) {
        if (strcmp(a[i], b[i]) == 0)
            continue;
        snprintf(how, sizeof how, "position %zu is %.60s and %.60s", i, a[i], b[i]);
        note(to, "axis", layout_axes_table[axis].name, how);
        break;
    }
    free_texts(a, length);
    free_texts(b, length);
    return status;
}

/* A text that only one store has differs from "". */
static enum status compare_attribute(struct difference *to, const char *name)
{
    char *a = NULL, *b = NULL;
    enum status status = reader_attribute(to->a, name, &a);
    if (!status || status == STATUS_CORRUPT)
        status = reader_attribute(to->b, name, &b);
    if (strcmp(a ? a : "", b ? b : "") != 0)
        note(to, "attribute", name, "differs");
    mem_free(a);
    mem_free(b);
    return status == STATUS_CORRUPT ? STATUS_OK : status;
}

enum status difference_of_stores(struct difference *to)
{
    static const char *const names[] = {"sweep", "measure", "network", "ini", "resolved"};
    size_t rows;
    const struct provenance_row *provenance = provenance_rows(&rows);
    enum status status = STATUS_OK;
    for (int axis = 0; !status && axis < AXIS_COUNT; axis++)
        if (axis != AXIS_UNIT && axis != AXIS_CHANNEL)
            status = compare_axis(to, (enum layout_axis)axis);
    if (!status && reader_extent(to->a)->channels != reader_extent(to->b)->channels)
        note(to, "axis", layout_axes_table[AXIS_CHANNEL].name, "not equally long; variables on it are not compared");
    for (size_t i = 0; !status && to->all && i < sizeof names / sizeof *names; i++)
        status = compare_attribute(to, names[i]);
    for (size_t i = 0; !status && to->all && i < rows; i++)
        status = compare_attribute(to, provenance[i].name);
    return status;
}

/* Where, when and how often a unit ran, and paths: nothing of it can change a number. */
static bool is_circumstance(const char *name)
{
    static const enum layout_column_id own[] = {COLUMN_host, COLUMN_rank, COLUMN_started, COLUMN_seconds, COLUMN_attempts};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(layout_columns_table[own[i]].name, name) == 0)
            return true;
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        char stored[LAYOUT_NAME_SIZE];
        layout_column_name(settings_table[key].key, stored);
        if (strcmp(stored, name) == 0)
            return !settings_table[key].numbers;
    }
    return false;
}

static const struct reader_column *find_column(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < reader_column_count(reader); i++)
        if (strcmp(reader_column(reader, i)->name, name) == 0)
            return reader_column(reader, i);
    return NULL;
}

static enum status compare_column(struct difference *to, const char *name)
{
    size_t a_rows = (size_t)reader_rows(to->a), b_rows = (size_t)reader_rows(to->b);
    char **a = mem_array(a_rows, sizeof *a), **b = mem_array(b_rows, sizeof *b);
    struct tally tally = {.to = to, .name = name};
    enum status status = a && b ? reader_texts(to->a, name, 0, a_rows, a) : STATUS_NOMEM;
    if (!status)
        status = reader_texts(to->b, name, 0, b_rows, b);
    for (size_t i = 0; !status && i < to->matching->pair_count; i++) {
        const struct matching_pair *pair = &to->matching->pairs[i];
        if (strcmp(a[pair->a], b[pair->b]) != 0 && count(&tally))
            printf("  %s, unit %" PRIu64 " and %" PRIu64 ": '%.200s' and '%.200s'\n", name, pair->a, pair->b, a[pair->a], b[pair->b]);
    }
    if (!status)
        finish(&tally, to->matching->pair_count);
    free_texts(a, a_rows);
    free_texts(b, b_rows);
    return status;
}

enum status difference_of_columns(struct difference *to)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < reader_column_count(to->a); i++) {
        const char *name = reader_column(to->a, i)->name;
        if (!to->all && is_circumstance(name))
            continue;
        if (find_column(to->b, name))
            status = compare_column(to, name);
        else
            note(to, "column", name, "only in the first store");
    }
    for (size_t i = 0; !status && i < reader_column_count(to->b); i++) {
        const char *name = reader_column(to->b, i)->name;
        if (!find_column(to->a, name) && (to->all || !is_circumstance(name)))
            note(to, "column", name, "only in the second store");
    }
    return status;
}

/* Whether both stores give the variable the same shape. */
static bool is_comparable(const struct difference *to, enum variable_id id)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    int rank = layout_variable_axes(id, axes);
    for (int i = 1; i < rank; i++)
        if (layout_length(reader_extent(to->a), axes[i]) != layout_length(reader_extent(to->b), axes[i]))
            return false;
    return true;
}

void difference_place(const struct reader *reader, enum variable_id id, size_t place, char out[128])
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    int rank = layout_variable_axes(id, axes);
    size_t index[LAYOUT_MAX_RANK] = {0}, at = 0;
    out[0] = '\0';
    for (int i = rank - 1; i > 0; i--) {
        size_t length = layout_length(reader_extent(reader), axes[i]);
        index[i] = place % length;
        place /= length;
    }
    for (int i = 1; i < rank; i++)
        at += (size_t)snprintf(out + at, 128 - at, ", %s %zu", layout_axes_table[axes[i]].name, index[i]);
}

/* `size` values from place `first` on, of the variable's type. */
static void compare_unit(struct tally *tally, enum variable_id id, const struct matching_pair *pair, size_t first, const void *a,
                         const void *b, size_t size)
{
    char place[128];
    bool doubles = variables_double(variables_table[id].group);
    size_t element = doubles ? sizeof(double) : sizeof(float);
    if (memcmp(a, b, size * element) == 0)
        return;
    for (size_t i = 0; i < size; i++) {
        if (memcmp((const char *)a + i * element, (const char *)b + i * element, element) == 0 || !count(tally))
            continue;
        difference_place(tally->to->a, id, first + i, place);
        printf("  %s, unit %" PRIu64 " and %" PRIu64 "%s: %.*g and %.*g\n", tally->name, pair->a, pair->b, place, doubles ? 17 : 9,
               doubles ? ((const double *)a)[i] : (double)((const float *)a)[i], doubles ? 17 : 9,
               doubles ? ((const double *)b)[i] : (double)((const float *)b)[i]);
    }
}

/* How many pairs from `first` on, at most `most`, lie in neighbouring rows of both stores. */
static size_t run_of(const struct matching_pair *pairs, size_t available, size_t most)
{
    size_t length = 1;
    while (length < most && length < available && pairs[length].a == pairs[0].a + length && pairs[length].b == pairs[0].b + length)
        length++;
    return length;
}

static enum status compare_variable(struct difference *to, enum variable_id id)
{
    const struct variables_extent *extent = reader_extent(to->a);
    const struct matching *matching = to->matching;
    size_t size = variables_record_count(variables_table[id].group, extent) * variables_size(id, extent), length;
    size_t most = BLOCK_BYTES / sizeof(float) / size ? BLOCK_BYTES / sizeof(float) / size : 1;
    most = most < matching->pair_count ? most : matching->pair_count;
    float *a = mem_array(most, size * sizeof *a), *b = mem_array(most, size * sizeof *b);
    struct tally tally = {.to = to, .name = variables_table[id].name};
    enum status status = a && b ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < matching->pair_count; i += length) {
        const struct matching_pair *pairs = matching->pairs + i;
        length = run_of(pairs, matching->pair_count - i, most);
        status = reader_values(to->a, id, pairs->a, length, a);
        if (!status)
            status = reader_values(to->b, id, pairs->b, length, b);
        for (size_t u = 0; !status && u < length; u++)
            compare_unit(&tally, id, &pairs[u], 0, a + u * size, b + u * size, size);
    }
    if (!status)
        finish(&tally, (uint64_t)size * matching->pair_count);
    mem_free(a);
    mem_free(b);
    return status;
}

/* Compare one unit's kept variable, `room` positions of `size` values at a time, where both stores have kept it. */
static enum status compare_kept_unit(struct tally *tally, enum variable_id id, const struct matching_pair *pair, size_t size, size_t room,
                                     void *a, void *b, uint64_t *cells)
{
    const struct difference *to = tally->to;
    size_t positions = variables_record_count(variables_table[id].group, reader_extent(to->a));
    bool there_a = false, there_b = false;
    enum status status = kept_there(to->a, pair->a, &there_a);
    if (!status)
        status = kept_there(to->b, pair->b, &there_b);
    for (size_t first = 0; !status && there_a && there_b && first < positions; first += room) {
        size_t here = positions - first < room ? positions - first : room;
        status = reader_positions(to->a, id, pair->a, first, here, a);
        if (!status)
            status = reader_positions(to->b, id, pair->b, first, here, b);
        if (!status)
            compare_unit(tally, id, pair, first * size, a, b, here * size);
        *cells += here * size;
    }
    return status;
}

/* What is kept once a trajectory stands in one unit's row; which unit it is, is a circumstance of training. */
static enum status compare_kept(struct difference *to, enum variable_id id)
{
    size_t size = variables_size(id, reader_extent(to->a)), room = BLOCK_BYTES / sizeof(double) / size;
    room = room ? room : 1;
    double *a = mem_array(room, size * sizeof *a), *b = mem_array(room, size * sizeof *b);
    struct tally tally = {.to = to, .name = variables_table[id].name};
    uint64_t cells = 0;
    enum status status = a && b ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < to->matching->pair_count; i++)
        status = compare_kept_unit(&tally, id, &to->matching->pairs[i], size, room, a, b, &cells);
    if (!status)
        finish(&tally, cells);
    mem_free(a);
    mem_free(b);
    return status;
}

enum status difference_of_values(struct difference *to)
{
    enum status status = STATUS_OK;
    for (int i = 0; !status && i < VARIABLE_COUNT; i++) {
        enum variable_id id = (enum variable_id)i;
        bool a = layout_has_variable(id, reader_extent(to->a)), b = layout_has_variable(id, reader_extent(to->b));
        if (a && b && is_comparable(to, id))
            status = variables_kept(variables_table[id].group) ? compare_kept(to, id) : compare_variable(to, id);
        else if (a != b && (to->all || !variables_kept(variables_table[id].group)))
            note(to, "variable", variables_table[id].name, a ? "only in the first store" : "only in the second store");
    }
    return status;
}

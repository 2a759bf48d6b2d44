#include "keeping_internal.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/identity.h"
#include "h5_text_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READ_ROWS = 4096, READ_BYTES = 1 << 20 };

/* The settings that say whether a trajectory keeps anything; a store may lack their columns. */
static const int deciding[] = {SETTING_norm, SETTING_freeze, SETTING_freeze_stats};
enum { DECIDING = sizeof deciding / sizeof *deciding };

/* What is read of a store on the way. */
struct survey {
    hid_t file;
    const struct schema *schema;
    int64_t *states, *steps, *checks;      /* [schema->rows], the same, [extent.checks]; owned */
    char **weights, **settings[DECIDING];  /* [READ_ROWS] of the present block, the texts NULL where there are none; owned */
    struct keeping_unit *units;            /* owned by the caller of all */
    size_t count, capacity;
};

static enum status read_integers(hid_t file, const char *name, uint64_t count, int64_t **out)
{
    hid_t dataset;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    struct h5_slab slab = {.rank = 1, .count = {count}};
    hsize_t size[LAYOUT_MAX_RANK] = {0};
    *out = mem_array(count, sizeof **out);
    if (!*out)
        status = STATUS_NOMEM;
    else if (h5_sizes(dataset, size) != 1 || size[0] < count)
        status = status_fail(STATUS_CORRUPT, "the variable %s has another shape than the store", name);
    else if (count)
        status = h5_read(dataset, name, H5T_NATIVE_INT64, &slab, *out);
    H5Dclose(dataset);
    return status;
}

static enum status read_texts(const struct survey *survey, const char *name, uint64_t first, size_t count, char **out)
{
    hid_t dataset;
    if (H5Lexists(survey->file, name, H5P_DEFAULT) <= 0)
        return STATUS_OK;
    enum status status = h5_open_dataset(survey->file, name, &dataset);
    if (status)
        return status;
    hsize_t size[LAYOUT_MAX_RANK] = {0};
    if (h5_sizes(dataset, size) != 1 || size[0] < first + count)
        status = status_fail(STATUS_CORRUPT, "the variable %s has another shape than the store", name);
    else
        status = h5_text_read(dataset, name, first, count, out);
    H5Dclose(dataset);
    return status;
}

static void forget_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) {
        mem_free(texts[i]);
        texts[i] = NULL;
    }
}

static bool should_keep(const struct survey *survey, size_t index)
{
    struct settings settings;
    settings_defaults(&settings);
    for (int i = 0; i < DECIDING; i++) {
        const char *text = survey->settings[i][index];
        if (text && *text && settings_text_set(&settings, deciding[i], text))
            return false;
    }
    return identity_fusable(&settings);
}

/* Count the row's positions from `first` on, at most `due`, before one that is NaN throughout. */
static enum status count_there(hid_t dataset, const char *name, uint64_t row, size_t first, size_t due, size_t width, size_t *there)
{
    size_t block = READ_BYTES / (width * sizeof(double)) + 1;
    double *values = mem_array(block < due ? block : due, width * sizeof *values);
    enum status status = values ? STATUS_OK : STATUS_NOMEM;
    bool gap = false;
    for (*there = 0; !status && *there < due && !gap;) {
        size_t count = due - *there < block ? due - *there : block;
        struct h5_slab slab = {.rank = 3, .start = {row, first + *there, 0}, .count = {1, count, width}};
        status = h5_read(dataset, name, H5T_NATIVE_DOUBLE, &slab, values);
        for (size_t i = 0; !status && i < count && !gap; i++) {
            gap = true;
            for (size_t k = 0; k < width && gap; k++)
                gap = isnan(values[i * width + k]);
            *there += !gap;
        }
    }
    mem_free(values);
    return status;
}

static enum status look_at(const struct survey *survey, enum variable_id id, struct keeping_unit *unit, size_t first, size_t due)
{
    const struct variables_extent *extent = &survey->schema->extent;
    const char *name = variables_table[id].name;
    size_t width = variables_size(id, extent), there;
    hsize_t size[LAYOUT_MAX_RANK] = {0};
    hid_t dataset;
    enum status status = h5_open_dataset(survey->file, name, &dataset);
    if (status)
        return status;
    if (h5_sizes(dataset, size) != 3 || size[0] < survey->schema->rows || size[1] < first + due || size[2] != width)
        status = status_fail(STATUS_CORRUPT, "the variable %s has another shape than the store", name);
    if (!status)
        status = count_there(dataset, name, unit->row, first, due, width, &there);
    if (!status && there < due) {
        unit->gap = id;
        unit->there = there;
        unit->due = due;
    }
    H5Dclose(dataset);
    return status;
}

static enum status look_at_unit(const struct survey *survey, struct keeping_unit *unit, size_t steps)
{
    size_t checks = 0;
    for (size_t i = 0; i < survey->schema->extent.checks; i++)
        checks += survey->checks[i] <= (int64_t)steps;
    enum status status = look_at(survey, VARIABLE_batch_mean, unit, steps - 1, 1);
    unit->last = unit->gap == VARIABLE_COUNT;
    if (!status && !unit->last) /* most often it is another's that keeps: no more is read */
        unit->due = steps;
    for (int id = VARIABLE_batch_mean; !status && unit->gap == VARIABLE_COUNT && id <= VARIABLE_weights; id++)
        if (layout_has_variable((enum variable_id)id, &survey->schema->extent))
            status = look_at(survey, (enum variable_id)id, unit, 0, id == VARIABLE_weights ? checks : steps);
    return status;
}

static enum status add_unit(struct survey *survey, struct keeping_unit **out)
{
    if (survey->count == survey->capacity) {
        size_t larger = survey->capacity ? 2 * survey->capacity : 64;
        struct keeping_unit *units = mem_grow(survey->units, survey->capacity, larger, sizeof *units);
        if (!units)
            return STATUS_NOMEM;
        survey->units = units;
        survey->capacity = larger;
    }
    *out = &survey->units[survey->count++];
    return STATUS_OK;
}

static enum status take_row(struct survey *survey, uint64_t row, size_t index)
{
    struct keeping_unit *unit;
    struct hash weights;
    int64_t steps = survey->steps[row], state = survey->states[row];
    bool again = state == UNIT_PENDING || state == UNIT_RUNNING;
    if ((state != UNIT_DONE && !again) || steps < 1 || (uint64_t)steps > survey->schema->extent.steps ||
        !survey->weights[index] || !hash_from_hex(survey->weights[index], &weights) || !should_keep(survey, index))
        return STATUS_OK;
    enum status status = add_unit(survey, &unit);
    if (status)
        return status;
    *unit = (struct keeping_unit){.weights = weights, .row = row, .gap = VARIABLE_COUNT};
    return again ? STATUS_OK : look_at_unit(survey, unit, (size_t)steps);
}

static enum status take_block(struct survey *survey, uint64_t first, size_t count)
{
    char name[LAYOUT_NAME_SIZE];
    enum status status = read_texts(survey, layout_columns_table[COLUMN_weights_hash].name, first, count, survey->weights);
    for (int i = 0; !status && i < DECIDING; i++) {
        layout_column_name(settings_table[deciding[i]].key, name);
        status = read_texts(survey, name, first, count, survey->settings[i]);
    }
    for (size_t i = 0; !status && i < count; i++)
        status = take_row(survey, first + i, i);
    forget_texts(survey->weights, count);
    for (int i = 0; i < DECIDING; i++)
        forget_texts(survey->settings[i], count);
    return status;
}

static enum status take_all(struct survey *survey)
{
    const struct schema *schema = survey->schema;
    bool room = (survey->weights = mem_array(READ_ROWS, sizeof(char *))) != NULL;
    for (int i = 0; i < DECIDING; i++)
        room = (survey->settings[i] = mem_array(READ_ROWS, sizeof(char *))) && room;
    enum status status = room ? STATUS_OK : STATUS_NOMEM;
    if (!status)
        status = read_integers(survey->file, layout_columns_table[COLUMN_status].name, schema->rows, &survey->states);
    if (!status)
        status = read_integers(survey->file, layout_columns_table[COLUMN_steps_done].name, schema->rows, &survey->steps);
    if (!status && schema->extent.checks)
        status = read_integers(survey->file, layout_axes_table[AXIS_CHECK].name, schema->extent.checks, &survey->checks);
    for (uint64_t first = 0; !status && first < schema->rows; first += READ_ROWS)
        status = take_block(survey, first, schema->rows - first < READ_ROWS ? (size_t)(schema->rows - first) : READ_ROWS);
    mem_free(survey->weights);
    for (int i = 0; i < DECIDING; i++)
        mem_free(survey->settings[i]);
    mem_free(survey->states);
    mem_free(survey->steps);
    mem_free(survey->checks);
    return status;
}

static int by_trajectory(const void *a, const void *b)
{
    const struct keeping_unit *x = a, *y = b;
    if (!hash_equal(x->weights, y->weights))
        return x->weights.high != y->weights.high ? (x->weights.high < y->weights.high ? -1 : 1)
                                                  : (x->weights.low < y->weights.low ? -1 : 1);
    return x->row < y->row ? -1 : x->row > y->row;
}

enum status keeping_list(hid_t file, const struct schema *schema, struct keeping_unit **out, size_t *count)
{
    struct survey survey = {.file = file, .schema = schema};
    *out = NULL;
    *count = 0;
    if (!layout_has_variable(VARIABLE_batch_mean, &schema->extent))
        return STATUS_OK;
    enum status status = take_all(&survey);
    if (status) {
        mem_free(survey.units);
        return status;
    }
    if (survey.count)
        qsort(survey.units, survey.count, sizeof *survey.units, by_trajectory);
    *out = survey.units;
    *count = survey.count;
    return STATUS_OK;
}

size_t keeping_trajectory(const struct keeping_unit *units, size_t count, size_t first, bool *whole)
{
    size_t end = first;
    *whole = false;
    for (; end < count && hash_equal(units[end].weights, units[first].weights); end++)
        *whole = *whole || units[end].gap == VARIABLE_COUNT;
    return end;
}

#include "ranking.h"

#include "bnsweep/base/mem.h"

#include <math.h>
#include <stdlib.h>

/* A setting that is not read differs from nothing; an empty hash is that of PyTorch's own initial weights. */
static bool has_value(const struct frame_column *column, size_t row)
{
    return *frame_text(column, row) || (column->key >= 0 && settings_table[column->key].type == SETTINGS_TYPE_DIGEST);
}

/* Whether two units of one arm read the setting and differ in it. `seen` [arms] is scratch. */
static bool varies_in_an_arm(const struct frame *frame, const struct frame_column *column, uint32_t *seen)
{
    if (column->count < 2)
        return false;
    for (size_t arm = 0; arm < frame->arm.count; arm++)
        seen[arm] = UINT32_MAX;
    for (size_t row = 0; row < frame->rows; row++) {
        uint32_t *first = &seen[frame_code(&frame->arm, row)], code = frame_code(column, row);
        if (!has_value(column, row))
            continue;
        if (*first == UINT32_MAX)
            *first = code;
        if (*first != code)
            return true;
    }
    return false;
}

static enum status choose_keys(struct ranking *ranking)
{
    const struct frame *frame = ranking->frame;
    const struct frame_column *momentum = frame_setting(frame, SETTING_bn_momentum);
    uint32_t *seen = mem_array(frame->arm.count, sizeof *seen);
    ranking->keys = mem_array(frame->setting_count + 1, sizeof *ranking->keys);
    if (!seen || !ranking->keys) {
        mem_free(seen);
        return STATUS_NOMEM;
    }
    if (momentum)
        ranking->keys[ranking->key_count++] = momentum;
    for (size_t i = 0; i < frame->setting_count; i++) {
        const struct frame_column *column = &frame->settings[i];
        if (column != momentum && column->key != SETTING_seed && frame_changes_numbers(column) && varies_in_an_arm(frame, column, seen))
            ranking->keys[ranking->key_count++] = column;
    }
    mem_free(seen);
    return STATUS_OK;
}

static int compare_keys(const struct ranking *ranking, size_t a, size_t b)
{
    const struct frame_column *arm = &ranking->frame->arm;
    uint32_t x = frame_code(arm, a), y = frame_code(arm, b);
    for (size_t i = 0; x == y && i < ranking->key_count; i++) {
        x = frame_code(ranking->keys[i], a);
        y = frame_code(ranking->keys[i], b);
    }
    return (x > y) - (x < y);
}

static int compare_units(const void *a, const void *b, void *ranking)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = compare_keys(ranking, x, y);
    return order ? order : (x > y) - (x < y);
}

static int compare_rotation(const void *a, const void *b, void *ranking)
{
    const struct ranking_row *x = a, *y = b;
    double p = x->mean[SUMMARY_rotation], q = y->mean[SUMMARY_rotation];
    (void)ranking;
    if (isnan(p) != isnan(q))
        return isnan(p) - isnan(q);
    int order = (p > q) - (p < q);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* Mean and standard deviation (over n - 1) of one measure over the row's done units. */
static void average(const struct ranking *ranking, struct ranking_row *row, double (*values)[SUMMARY_COUNT], int id)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        double mean = count ? sum / (double)count : 0;
        for (size_t i = row->first; i < row->first + row->count; i++) {
            size_t unit = ranking->units[i];
            double value = values[unit][id];
            if (ranking->frame->status[unit] != UNIT_DONE || isnan(value))
                continue;
            sum += pass ? 0 : value;
            count += !pass;
            squares += pass ? (value - mean) * (value - mean) : 0;
        }
    }
    row->measured[id] = count;
    row->mean[id] = count ? sum / (double)count : (double)NAN;
    row->deviation[id] = count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
}

static enum status make_rows(struct ranking *ranking, double (*values)[SUMMARY_COUNT])
{
    size_t total = ranking->frame->rows;
    for (size_t i = 0; i < total; i++)
        ranking->count += i == 0 || compare_keys(ranking, ranking->units[i - 1], ranking->units[i]) != 0;
    ranking->rows = mem_array(ranking->count, sizeof *ranking->rows);
    if (!ranking->rows)
        return STATUS_NOMEM;
    struct ranking_row *row = ranking->rows;
    for (size_t i = 0; i < total; i++) {
        if (i > 0 && compare_keys(ranking, ranking->units[i - 1], ranking->units[i]) != 0)
            (++row)->first = i;
        row->count++;
        row->units[ranking->frame->status[ranking->units[i]]]++;
    }
    for (size_t r = 0; r < ranking->count; r++)
        for (int id = 0; id < SUMMARY_COUNT; id++)
            average(ranking, &ranking->rows[r], values, id);
    return STATUS_OK;
}

enum status ranking_make(const struct frame *frame, struct ranking *out)
{
    out->frame = frame;
    double (*values)[SUMMARY_COUNT] = mem_array(frame->rows, sizeof *values);
    out->units = mem_array(frame->rows, sizeof *out->units);
    enum status status = values && out->units ? choose_keys(out) : STATUS_NOMEM;
    if (!status)
        status = summary_read(frame, values);
    if (!status) {
        for (size_t i = 0; i < frame->rows; i++)
            out->units[i] = i;
        qsort_r(out->units, frame->rows, sizeof *out->units, compare_units, out);
        status = make_rows(out, values);
    }
    if (!status)
        qsort_r(out->rows, out->count, sizeof *out->rows, compare_rotation, out);
    mem_free(values);
    return status;
}

void ranking_free(struct ranking *ranking)
{
    mem_free(ranking->keys);
    mem_free(ranking->units);
    mem_free(ranking->rows);
    *ranking = (struct ranking){0};
}

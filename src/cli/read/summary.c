#include "summary.h"

#include "bnsweep/base/mem.h"

#include <math.h>
#include <stdlib.h>

const struct summary summary_table[SUMMARY_COUNT] = {
#define X(name, heading, factor, digits, unit, meaning) {#name, heading, factor, digits, unit, meaning},
    SUMMARY(X)
#undef X
};

double summary_angle_factor(const struct frame *frame, size_t row)
{
    const struct frame_column *window = frame_setting(frame, SETTING_angle_window);
    double steps = window ? strtod(frame_text(window, row), NULL) : 0;
    return steps > 0 ? 100 / steps : (double)NAN;
}

double summary_last_layer(const struct frame *frame, const float *values, const float *by)
{
    double sum = 0;
    size_t count = 0;
    for (size_t c = frame->last_first; c < frame->last_first + frame->last_count; c++) {
        double value = by ? (double)values[c] / (double)by[c] : (double)values[c];
        if (isnan(value))
            continue;
        sum += value;
        count++;
    }
    return count ? sum / (double)count : (double)NAN;
}

/* One unit's [checks] values to their mean. */
static double mean(const float *values, size_t checks)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < checks; i++)
        if (!isnan(values[i])) {
            sum += (double)values[i];
            count++;
        }
    return count ? sum / (double)count : (double)NAN;
}

static double share_below(const float *values, size_t checks)
{
    size_t below = 0, count = 0;
    for (size_t i = 0; i < checks; i++) {
        below += values[i] < SUMMARY_FAILING;
        count += !isnan(values[i]);
    }
    return count ? (double)below / (double)count : (double)NAN;
}

/* The last of one unit's [checks][size] values at position `at` that was measured. */
static double last(const float *values, size_t checks, size_t size, size_t at)
{
    for (size_t check = checks; check-- > 0;)
        if (!isnan(values[check * size + at]))
            return (double)values[check * size + at];
    return (double)NAN;
}

static double rotation(const struct frame *frame, size_t row, const float *angles)
{
    double sum = 0;
    size_t count = 0;
    for (size_t check = 0; check < frame->extent->checks; check++) {
        double angle = summary_last_layer(frame, angles + check * frame->extent->channels, NULL);
        if (isnan(angle))
            continue;
        sum += angle;
        count++;
    }
    return count ? summary_angle_factor(frame, row) * sum / (double)count : (double)NAN;
}

static double growth(const struct frame *frame, const float *norms, const float *norms_init)
{
    for (size_t check = frame->extent->checks; check-- > 0;) {
        double value = summary_last_layer(frame, norms + check * frame->extent->channels, norms_init);
        if (!isnan(value))
            return value;
    }
    return (double)NAN;
}

/* Values of a block of rows; `values` has room for the largest variable. */
struct block {
    const struct frame *frame;
    size_t first, count;
    float *values, *norms_init;
    double (*out)[SUMMARY_COUNT];
};

static enum status read(struct block *block, enum variable_id id, float *values)
{
    return reader_values(block->frame->reader, id, block->first, block->count, values);
}

static enum status accuracies(struct block *block, enum variable_id id, enum summary_id mean_id)
{
    size_t checks = block->frame->extent->checks;
    enum status status = read(block, id, block->values);
    for (size_t i = 0; !status && i < block->count; i++) {
        block->out[block->first + i][mean_id] = mean(block->values + i * checks, checks);
        if (id == VARIABLE_acc_eval)
            block->out[block->first + i][SUMMARY_checks_below_90] = share_below(block->values + i * checks, checks);
    }
    return status;
}

/* Of several re-estimates, the one from the most batches. */
static enum status reestimates(struct block *block)
{
    size_t checks = block->frame->extent->checks, size = block->frame->extent->reests;
    enum status status = read(block, VARIABLE_acc_reest, block->values);
    for (size_t i = 0; !status && i < block->count; i++)
        block->out[block->first + i][SUMMARY_acc_reest] = last(block->values + i * checks * size, checks, size, size - 1);
    return status;
}

static enum status geometry(struct block *block)
{
    size_t channels = block->frame->extent->channels, size = block->frame->extent->checks * channels;
    enum status status = read(block, VARIABLE_angle, block->values);
    for (size_t i = 0; !status && i < block->count; i++)
        block->out[block->first + i][SUMMARY_rotation] = rotation(block->frame, block->first + i, block->values + i * size);
    if (!status)
        status = read(block, VARIABLE_norm_init, block->norms_init);
    if (!status)
        status = read(block, VARIABLE_norm, block->values);
    for (size_t i = 0; !status && i < block->count; i++)
        block->out[block->first + i][SUMMARY_norm_growth] =
            growth(block->frame, block->values + i * size, block->norms_init + i * channels);
    return status;
}

static enum status read_block(struct block *block)
{
    const struct variables_extent *extent = block->frame->extent;
    enum status status = STATUS_OK;
    if (layout_has_variable(VARIABLE_acc_eval, extent))
        status = accuracies(block, VARIABLE_acc_eval, SUMMARY_acc_eval);
    if (!status && layout_has_variable(VARIABLE_acc_train, extent))
        status = accuracies(block, VARIABLE_acc_train, SUMMARY_acc_train);
    if (!status && layout_has_variable(VARIABLE_acc_reest, extent))
        status = reestimates(block);
    if (!status && layout_has_variable(VARIABLE_angle, extent))
        status = geometry(block);
    return status;
}

enum status summary_read(const struct frame *frame, double (*out)[SUMMARY_COUNT])
{
    const struct variables_extent *extent = frame->extent;
    size_t widest = extent->channels > extent->reests ? extent->channels : extent->reests, largest = extent->checks;
    if (!mem_multiply(&largest, widest ? widest : 1))
        return status_fail(STATUS_NOMEM, "%s: a unit is too large", frame->path);
    size_t rows = frame_block(largest);
    rows = rows < frame->rows ? rows : frame->rows;
    struct block block = {.frame = frame, .out = out};
    block.values = mem_array(rows, largest * sizeof *block.values);
    block.norms_init = mem_array(rows, extent->channels * sizeof *block.norms_init);
    enum status status = block.values && block.norms_init ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; i < frame->rows; i++)
        for (int id = 0; id < SUMMARY_COUNT; id++)
            out[i][id] = (double)NAN;
    for (; !status && block.first < frame->rows; block.first += rows) {
        block.count = frame->rows - block.first < rows ? frame->rows - block.first : rows;
        status = read_block(&block);
    }
    mem_free(block.values);
    mem_free(block.norms_init);
    return status;
}

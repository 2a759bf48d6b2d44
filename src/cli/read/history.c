#include "history.h"

#include "summary.h"

#include "bnsweep/base/mem.h"

#include <math.h>
#include <stddef.h>

/* Reads one variable at a time, and gives it to the checks. */
struct source {
    const struct frame *frame;
    size_t row;
    float *values; /* [checks][channels or fewer] */
    float *norms_init; /* [channels] */
};

static enum status read(const struct source *source, enum variable_id id)
{
    const struct variables_extent *extent = source->frame->extent;
    size_t size = extent->checks * variables_size(id, extent);
    if (layout_has_variable(id, extent))
        return reader_values(source->frame->reader, id, source->row, 1, source->values);
    for (size_t i = 0; i < size; i++)
        source->values[i] = NAN;
    return STATUS_OK;
}

static enum status read_scalars(const struct source *source, struct history *out)
{
    const struct {
        enum variable_id id;
        size_t offset;
    } scalars[] = {
        {VARIABLE_lr_applied, offsetof(struct history_check, lr)},      {VARIABLE_loss, offsetof(struct history_check, loss)},
        {VARIABLE_acc_train, offsetof(struct history_check, acc_train)}, {VARIABLE_acc_eval, offsetof(struct history_check, acc_eval)},
    };
    enum status status = STATUS_OK;
    for (size_t s = 0; !status && s < sizeof scalars / sizeof *scalars; s++) {
        status = read(source, scalars[s].id);
        for (size_t i = 0; !status && i < out->count; i++)
            *(double *)((char *)&out->checks[i] + scalars[s].offset) = (double)source->values[i];
    }
    size_t reests = source->frame->extent->reests;
    for (size_t i = 0; i < out->count; i++)
        out->checks[i].reest = (double)NAN;
    if (!status && reests)
        status = read(source, VARIABLE_acc_reest);
    for (size_t i = 0; !status && reests && i < out->count; i++)
        out->checks[i].reest = (double)source->values[i * reests + reests - 1];
    return status;
}

static enum status read_geometry(const struct source *source, struct history *out)
{
    const struct frame *frame = source->frame;
    size_t channels = frame->extent->channels;
    double factor = summary_angle_factor(frame, source->row);
    enum status status = read(source, VARIABLE_angle);
    for (size_t i = 0; !status && i < out->count; i++)
        out->checks[i].rotation = factor * summary_last_layer(frame, source->values + i * channels, NULL);
    if (!status)
        status = reader_values(frame->reader, VARIABLE_norm_init, source->row, 1, source->norms_init);
    if (!status)
        status = read(source, VARIABLE_norm);
    for (size_t i = 0; !status && i < out->count; i++)
        out->checks[i].growth = summary_last_layer(frame, source->values + i * channels, source->norms_init);
    return status;
}

/* The channel with the largest |transform(value)|; NaN values are passed over. */
static size_t worst_of(const float *values, size_t count, double (*transform)(double))
{
    size_t worst = 0;
    double most = -1;
    for (size_t c = 0; c < count; c++) {
        double magnitude = fabs(transform((double)values[c]));
        if (magnitude > most) {
            most = magnitude;
            worst = c;
        }
    }
    return worst;
}

static double identity(double value)
{
    return value;
}

static enum status read_statistics(const struct source *source, struct history *out)
{
    size_t channels = source->frame->extent->channels;
    enum status status = read(source, VARIABLE_mean_lag);
    for (size_t i = 0; !status && i < out->count; i++) {
        struct history_check *check = &out->checks[i];
        check->lag_channel = worst_of(source->values + i * channels, channels, identity);
        check->lag = (double)source->values[i * channels + check->lag_channel];
    }
    if (!status)
        status = read(source, VARIABLE_var_ratio);
    for (size_t i = 0; !status && i < out->count; i++) {
        struct history_check *check = &out->checks[i];
        check->var_channel = worst_of(source->values + i * channels, channels, log);
        check->var_ratio = (double)source->values[i * channels + check->var_channel];
    }
    return status;
}

enum status history_read(const struct frame *frame, size_t row, struct history *out)
{
    const struct variables_extent *extent = frame->extent;
    size_t widest = extent->channels > extent->reests ? extent->channels : extent->reests;
    struct source source = {.frame = frame, .row = row};
    out->count = extent->checks;
    out->checks = mem_array(out->count, sizeof *out->checks);
    source.values = mem_array(out->count, (widest ? widest : 1) * sizeof(float));
    source.norms_init = mem_array(extent->channels, sizeof(float));
    enum status status = out->checks && source.values && source.norms_init ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < out->count; i++)
        out->checks[i].step = frame->steps[i];
    if (!status && out->count)
        status = read_scalars(&source, out);
    if (!status && out->count && extent->channels)
        status = read_geometry(&source, out);
    if (!status && out->count && extent->channels)
        status = read_statistics(&source, out);
    mem_free(source.values);
    mem_free(source.norms_init);
    return status;
}

void history_free(struct history *history)
{
    mem_free(history->checks);
    *history = (struct history){0};
}

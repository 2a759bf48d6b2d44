#include "rates.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/configure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A rate is stored as a float; schedules of another machine may differ in the last bits. */
static bool is_same_rate(float applied, double expected)
{
    return fabs((double)applied - expected) <= 1e-6 * fabs(expected) + 1e-40;
}

static enum status check_unit(const struct frame *frame, size_t row, const float *applied, const struct proof_listener *listener,
                              struct rates *out)
{
    struct settings settings;
    char text[512];
    enum status status = frame_settings(frame, row, &settings);
    if (status)
        return status;
    struct schedule_config schedule = configure_schedule(&settings);
    out->units++;
    for (size_t i = 0; i < frame->extent->checks && frame->steps[i] <= settings.steps; i++) {
        double expected = schedule_rate(&schedule, (uint64_t)frame->steps[i] - 1);
        if (isnan(applied[i]))
            continue; /* a missing check is not this proof's */
        out->compared++;
        if (is_same_rate(applied[i], expected))
            continue;
        snprintf(text, sizeof text, "lr_applied: unit %zu (%s) had the learning rate %.9g at step %" PRId64 ", its schedule says %.9g", row,
                 frame_text(&frame->arm, row), (double)applied[i], frame->steps[i], expected);
        listener->find(listener->context, PROOF_ERROR, text);
        out->errors++;
        break;
    }
    return STATUS_OK;
}

enum status rates_check(const struct frame *frame, const struct proof_listener *listener, struct rates *out)
{
    size_t checks = frame->extent->checks, rows = frame_block(checks);
    *out = (struct rates){0};
    if (!layout_has_variable(VARIABLE_lr_applied, frame->extent))
        return STATUS_OK;
    rows = rows < frame->rows ? rows : frame->rows;
    float *applied = mem_array(rows, checks * sizeof *applied);
    enum status status = applied ? STATUS_OK : STATUS_NOMEM;
    for (size_t first = 0; !status && first < frame->rows; first += rows) {
        size_t count = frame->rows - first < rows ? frame->rows - first : rows;
        status = reader_values(frame->reader, VARIABLE_lr_applied, first, count, applied);
        for (size_t i = 0; !status && i < count; i++)
            if (frame->status[first + i] == UNIT_DONE)
                status = check_unit(frame, first + i, applied + i * checks, listener, out);
    }
    mem_free(applied);
    return status;
}

#include "phases.h"

#include "stopwatch.h"

#include "bnsweep/core/fused.h"
#include "bnsweep/measure/geometry.h"
#include "bnsweep/measure/lag.h"

#include <math.h>
#include <string.h>

const struct phases_row phases_table[PHASE_COUNT] = {
#define X(name, key, text) {key, text},
    PHASES(X)
#undef X
};
const char *const phases_conv_keys[PHASE_CONV_COUNT] = {
#define X(name, key, pass) key,
    PHASES_CONV(X)
#undef X
};
const enum phase phases_conv_pass[PHASE_CONV_COUNT] = {
#define X(name, key, pass) PHASE_##pass,
    PHASES_CONV(X)
#undef X
};

/* Kernels are told a shape and no more, so what is timed stands here. */
static _Thread_local struct {
    const struct engine *engine;
    const struct packed *packed;
    struct phases *phases;
} timed;

static void add_conv(const struct conv_shape *shape, enum phase_conv what, double started)
{
    double seconds = stopwatch_now().cpu - started;
    for (size_t i = 0; i < timed.packed->net->config.blocks; i++) {
        if (&timed.packed->block[i].conv == shape)
            timed.phases->conv[i][what] += seconds;
        if (&timed.packed->block[i].turned == shape)
            timed.phases->conv[i][PHASE_CONV_BACKWARD_DATA] += seconds;
    }
}

static void direct_forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, struct ahead *ahead)
{
    double started = stopwatch_now().cpu;
    timed.engine->direct->forward(shape, n, x, w, y, ahead);
    add_conv(shape, PHASE_CONV_FORWARD, started);
}

static void direct_weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw, struct ahead *ahead)
{
    double started = stopwatch_now().cpu;
    timed.engine->direct->weights(shape, n, x, dy, dw, ahead);
    add_conv(shape, PHASE_CONV_BACKWARD_WEIGHTS, started);
}

static void winograd_forward(const struct conv_shape *shape, size_t n, const real *x, const real *u, real *y, real *workspace,
                             struct ahead *ahead)
{
    double started = stopwatch_now().cpu;
    timed.engine->winograd->forward(shape, n, x, u, y, workspace, ahead);
    add_conv(shape, PHASE_CONV_FORWARD, started);
}

static void winograd_weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *du, real *workspace,
                             struct ahead *ahead)
{
    double started = stopwatch_now().cpu;
    timed.engine->winograd->weights(shape, n, x, dy, du, workspace, ahead);
    add_conv(shape, PHASE_CONV_BACKWARD_WEIGHTS, started);
}

/* Add the time since *from to one phase, and start the next. */
static void end_phase(struct phases *phases, enum phase phase, double *from)
{
    double now = stopwatch_now().cpu;
    phases->seconds[phase] += now - *from;
    *from = now;
}

static enum status forward(struct trajectory *t, struct phases *phases, double *loss, double *clock)
{
    uint64_t index;
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    task_batch(&t->task, TASK_TRAIN, t->step, t->pass.x, t->pass.labels);
    end_phase(phases, PHASE_DATA, clock);
    enum status status = pass_forward(&t->pass, &mode, t->weights, loss);
    end_phase(phases, PHASE_FORWARD, clock);
    if (status)
        return status;
    if (!isfinite(*loss))
        return status_fail(STATUS_DIVERGED, "the loss is %g at step %llu", *loss, (unsigned long long)t->step + 1);
    if (!net_has_running(&t->net))
        return STATUS_OK;
    for (size_t m = 0; plan_is_sample(&t->config.plan, t->step + 1, &index) && m < t->config.momenta_count; m++)
        lag_trace(&t->net, t->held, &t->running[m], &t->pass.batch, t->channel_values);
    end_phase(phases, PHASE_TRACE, clock);
    for (size_t m = 0; m < t->config.momenta_count; m++)
        running_update(&t->net, t->held, &t->pass.batch, t->pass.n, &t->running[m]);
    end_phase(phases, PHASE_RUNNING, clock);
    return STATUS_OK;
}

static void backward(struct trajectory *t, struct phases *phases, double loss, double *clock)
{
    double *cos_update, *cos_grad;
    pass_backward(&t->pass, t->weights, t->gradient);
    end_phase(phases, PHASE_BACKWARD, clock);
    optim_update(&t->optim, schedule_rate(&t->config.schedule, t->step), t->frozen_now, t->weights, t->gradient, t->update);
    end_phase(phases, PHASE_OPTIMIZER, clock);
    window_enter(&t->window, t->step + 1, loss, &cos_update, &cos_grad);
    geometry_cosine(&t->net, t->update, t->weights, cos_update);
    geometry_cosine(&t->net, t->gradient, t->weights, cos_grad);
    end_phase(phases, PHASE_COSINES, clock);
    for (size_t i = 0; i < t->net.size; i++)
        t->weights[i] += t->update[i];
    for (size_t e = 0; e < t->extent.emas; e++)
        average_update(&t->averages[e], &t->net, t->weights, t->config.momenta_count, t->running);
    t->step++;
    window_snapshot(&t->window, t->step, t->weights);
    end_phase(phases, PHASE_WEIGHTS, clock);
}

/* The engine whose convolutions are timed; the reference's are not. */
static struct engine timed_engine(const struct trajectory *t, struct phases *phases, struct direct *direct, struct winograd *winograd)
{
    struct engine wrapped = *t->net.engine;
    if (!wrapped.block)
        return wrapped;
    *direct = (struct direct){direct_forward, direct_weights};
    *winograd = *wrapped.winograd;
    winograd->forward = winograd_forward;
    winograd->weights = winograd_weights;
    timed.engine = t->net.engine;
    timed.packed = &t->pass.fused->packed;
    timed.phases = phases;
    wrapped.direct = direct;
    wrapped.winograd = winograd;
    return wrapped;
}

enum status phases_step(struct trajectory *t, const struct trajectory *ahead, struct phases *phases)
{
    const struct engine *engine = t->net.engine;
    struct direct direct;
    struct winograd winograd;
    struct engine wrapped = timed_engine(t, phases, &direct, &winograd);
    double started = stopwatch_now().cpu, clock = started, loss;
    memcpy(t->held, ahead->held, sizeof t->held);
    memcpy(t->frozen_now, ahead->frozen_now, sizeof t->frozen_now);
    t->net.engine = &wrapped;
    enum status status = forward(t, phases, &loss, &clock);
    if (!status)
        backward(t, phases, loss, &clock);
    t->net.engine = engine;
    phases->whole += stopwatch_now().cpu - started;
    phases->steps++;
    return status;
}

double phases_conv_seconds(const struct phases *phases, enum phase pass)
{
    double sum = 0;
    for (size_t i = 0; i < NET_MAX_BLOCKS; i++)
        for (int what = 0; what < PHASE_CONV_COUNT; what++)
            sum += phases_conv_pass[what] == pass ? phases->conv[i][what] : 0;
    return sum;
}

double phases_rest(const struct phases *phases)
{
    double rest = phases->whole;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        rest -= phases->seconds[phase];
    return rest;
}

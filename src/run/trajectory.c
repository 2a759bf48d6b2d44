#include "bnsweep/run/trajectory.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/core/engine.h"
#include "bnsweep/measure/geometry.h"
#include "bnsweep/measure/lag.h"
#include "bnsweep/run/check.h"
#include "bnsweep/run/keep.h"

#include <math.h>
#include <string.h>

static enum status send(struct trajectory *t, size_t unit, enum variable_group group, uint64_t index, const double *values)
{
    return t->sink.values(t->sink.context, unit, group, (uint32_t)index, values, variables_record_size(group, &t->extent));
}

static enum status create_weights(struct trajectory *t)
{
    struct arena *arena = &t->arena;
    t->weights = arena_array(arena, t->net.size, sizeof(real));
    t->gradient = arena_array(arena, t->net.size, sizeof(real));
    t->update = arena_array(arena, t->net.size, sizeof(real));
    t->running = arena_array(arena, t->config.momenta_count, sizeof *t->running);
    if (!t->weights || !t->gradient || !t->update || !t->running)
        return STATUS_NOMEM;
    for (size_t m = 0; m < t->config.momenta_count; m++) {
        enum status status = running_create(&t->running[m], &t->net, t->config.momenta[m], arena);
        if (status)
            return status;
    }
    init_default(&t->net, t->config.seed, t->weights);
    if (t->config.init_count) {
        const struct running *first = &t->running[0];
        enum status status = init_tensors(&t->net, t->config.init_count, t->config.init, t->weights, first->mean, first->var);
        if (status)
            return status;
        for (size_t m = 1; m < t->config.momenta_count; m++) {
            memcpy(t->running[m].mean, first->mean, t->net.channels * sizeof(real));
            memcpy(t->running[m].var, first->var, t->net.channels * sizeof(real));
        }
    }
    t->weights_init = trajectory_weights_hash(t);
    return STATUS_OK;
}

static enum status create_averages(struct trajectory *t)
{
    t->averages = arena_array(&t->arena, t->extent.emas, sizeof *t->averages);
    if (!t->averages)
        return STATUS_NOMEM;
    enum status status = STATUS_OK;
    for (size_t e = 0; !status && e < t->extent.emas; e++)
        status = average_create(&t->averages[e], &t->net, t->config.plan.ema_decays[e], t->weights, t->config.momenta_count,
                                t->running, &t->arena);
    return status;
}

static enum status check_sizes(const struct net_config *net, const struct task_config *task)
{
    if (net->image_channels == task->image_channels && net->image_h == task->image_h && net->image_w == task->image_w &&
        net->classes == task->classes)
        return STATUS_OK;
    return status_fail(STATUS_SHAPE, "the task has images of %zux%zux%zu in %zu classes, the network takes %zux%zux%zu in %zu",
                       task->image_channels, task->image_h, task->image_w, task->classes, net->image_channels, net->image_h,
                       net->image_w, net->classes);
}

/* Training and inference never work at the same time, and share their largest memory. */
static enum status create_passes(struct trajectory *t)
{
    const struct trajectory_config *config = &t->config;
    struct room room = {0};
    size_t images = infer_room(&t->net, config->task.val_size);
    enum status status = pass_room(&t->net, config->task.batch, &room.size);
    if (status)
        return status;
    room.size = images > room.size ? images : room.size;
    room.at = arena_array(&t->arena, room.size, sizeof(real));
    if (!room.at)
        return STATUS_NOMEM;
    status = pass_create(&t->pass, &t->net, config->task.batch, room, &t->arena);
    return status ? status : infer_create(&t->infer, &t->net, room, &t->arena);
}

static enum status create_parts(struct trajectory *t)
{
    const struct trajectory_config *config = &t->config;
    if (config->momenta_count < 1 || config->momenta_count > TRAJECTORY_MAX_MOMENTA)
        return status_fail(STATUS_INPUT, "%zu momenta in one trajectory; from 1 to %d are possible", config->momenta_count,
                           TRAJECTORY_MAX_MOMENTA);
    enum status status = plan_check(&config->plan);
    if (!status)
        status = check_sizes(&config->net, &config->task);
    const struct engine *engine = NULL;
    if (!status)
        status = engine_choose(&engine);
    if (!status)
        status = net_plan(&config->net, engine, &t->net);
    if (status)
        return status;
    t->extent = plan_extent(&config->plan, t->net.channels, config->net.blocks);
    if (!status)
        status = task_create(&t->task, &config->task, &t->arena);
    if (!status)
        status = create_passes(t);
    if (!status)
        status = optim_create(&t->optim, &config->optim, &t->net, &t->arena);
    if (!status)
        status = window_create(&t->window, &t->net, &config->plan, &t->arena);
    if (!status)
        status = keep_create(t);
    if (!status)
        status = create_weights(t);
    if (!status)
        status = create_averages(t);
    return status ? status : check_create(t);
}

enum status trajectory_create(struct trajectory **out, const struct trajectory_config *config, const struct trajectory_sink *sink)
{
    struct trajectory *t = *out = mem_array(1, sizeof *t);
    if (!t)
        return STATUS_NOMEM;
    t->config = *config;
    t->sink = *sink;
    enum status status = create_parts(t);
    t->config.init = NULL;
    if (status)
        return status;
    t->norm_init = arena_array(&t->arena, t->net.channels, sizeof(double));
    if (!t->norm_init)
        return STATUS_NOMEM;
    geometry_norm(&t->net, t->weights, t->norm_init);
    window_snapshot(&t->window, 0, t->weights);
    for (size_t m = 0; !status && m < t->config.momenta_count; m++)
        status = send(t, m, GROUP_UNIT, 0, t->norm_init);
    return status;
}

void trajectory_free(struct trajectory *trajectory)
{
    if (trajectory)
        arena_free(&trajectory->arena);
    mem_free(trajectory);
}

/* Which blocks are frozen at the coming step, and which of their norm layers are held in evaluation mode. */
static void apply_freeze(struct trajectory *t)
{
    bool holds = t->step >= t->config.freeze_from;
    for (size_t i = 0; i <= t->net.config.blocks; i++)
        t->frozen_now[i] = holds && t->config.frozen[i];
    for (size_t i = 0; i < t->net.config.blocks; i++)
        t->held[i] = t->frozen_now[i] && t->config.freeze_stats == FREEZE_STATS_HELD && net_has_running(&t->net);
}

/* Send what the step's batch says of each set of running means, before they take it in. */
static enum status trace(struct trajectory *t)
{
    uint64_t index;
    enum status status = STATUS_OK;
    if (!plan_is_sample(&t->config.plan, t->step + 1, &index) || !net_has_running(&t->net))
        return STATUS_OK;
    for (size_t m = 0; !status && m < t->config.momenta_count; m++) {
        lag_trace(&t->net, t->held, &t->running[m], &t->pass.batch, t->channel_values);
        status = send(t, m, GROUP_TRACE, index, t->channel_values);
    }
    return status;
}

enum status trajectory_take_batch(struct trajectory *t)
{
    enum status status = trace(t);
    if (status)
        return status;
    for (size_t m = 0; net_has_running(&t->net) && m < t->config.momenta_count; m++)
        running_update(&t->net, t->held, &t->pass.batch, t->pass.n, &t->running[m]);
    return STATUS_OK;
}

static void apply_update(struct trajectory *t, double loss)
{
    double *cos_update, *cos_grad;
    pass_backward(&t->pass, t->weights, t->gradient);
    optim_update(&t->optim, schedule_rate(&t->config.schedule, t->step), t->frozen_now, t->weights, t->gradient, t->update);
    window_enter(&t->window, t->step + 1, loss, &cos_update, &cos_grad);
    geometry_cosine(&t->net, t->update, t->weights, cos_update);
    geometry_cosine(&t->net, t->gradient, t->weights, cos_grad);
    for (size_t i = 0; i < t->net.size; i++)
        t->weights[i] += t->update[i];
    for (size_t e = 0; e < t->extent.emas; e++)
        average_update(&t->averages[e], &t->net, t->weights, t->config.momenta_count, t->running);
}

enum status trajectory_step(struct trajectory *t)
{
    uint64_t check;
    double loss;
    bool checks = plan_is_check(&t->config.plan, t->step + 1, &check);
    apply_freeze(t);
    if (checks)
        check_before_step(t);
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    task_batch(&t->task, TASK_TRAIN, t->step, t->pass.x, t->pass.labels);
    enum status status = pass_forward(&t->pass, &mode, t->weights, &loss);
    if (status)
        return status;
    if (!isfinite(loss))
        return status_fail(STATUS_DIVERGED, "the loss is %g at step %llu", loss, (unsigned long long)t->step + 1);
    status = keep_batch(t);
    if (!status)
        status = trajectory_take_batch(t);
    if (status)
        return status;
    apply_update(t, loss);
    t->step++;
    window_snapshot(&t->window, t->step, t->weights);
    if (!checks)
        return STATUS_OK;
    status = keep_weights(t, check);
    return status ? status : check_measure(t, check);
}

struct hash trajectory_weights_hash(const struct trajectory *trajectory)
{
    return hash_bytes(trajectory->weights, trajectory->net.size * sizeof(real));
}

struct hash trajectory_statistics_hash(const struct trajectory *trajectory, size_t unit)
{
    const struct running *running = &trajectory->running[unit];
    size_t size = trajectory->net.channels * sizeof(real);
    if (!net_has_running(&trajectory->net))
        return (struct hash){0};
    return hash_combine(hash_bytes(running->mean, size), hash_bytes(running->var, size));
}

#include "bnsweep/run/configure.h"

#include <string.h>

struct plan configure_plan(const struct settings *s)
{
    struct plan plan = {
        .steps = (uint64_t)s->steps,
        .first_check = (uint64_t)s->first_check,
        .check_every = (uint64_t)s->check_every,
        .angle_window = (uint64_t)s->angle_window,
        .trace_every = (uint64_t)s->trace_every,
        .val_size = (uint64_t)s->val_size,
        .probe_size = (uint64_t)s->probe_size,
        .keep_batch_stats = s->keep_batch_stats,
        .probe_writes_stats = s->probe_writes_stats,
        .reest = (enum when_kind)s->reest,
        .swap_layer = (enum when_kind)s->swap_layer,
        .swap_top = (enum when_kind)s->swap_top,
        .ema = (enum when_kind)s->ema,
        .reest_count = (size_t)s->reest_batches.count,
        .ema_count = (size_t)s->ema_decays.count,
    };
    for (size_t i = 0; i < plan.reest_count; i++)
        plan.reest_batches[i] = (uint64_t)s->reest_batches.values[i];
    for (size_t i = 0; i < plan.ema_count; i++)
        plan.ema_decays[i] = s->ema_decays.values[i];
    return plan;
}

struct variables_extent configure_extent(const struct settings *settings)
{
    struct plan plan = configure_plan(settings);
    size_t channels = 0;
    for (int64_t i = 0; i < settings->channels.count; i++)
        channels += (size_t)settings->channels.values[i];
    return plan_extent(&plan, channels, (size_t)settings->channels.count);
}

static struct net_config network(const struct settings *s, const struct task_images *images, size_t classes)
{
    struct net_config net = {
        .blocks = (size_t)s->channels.count,
        .image_channels = images ? images->channels : (size_t)s->image_channels,
        .image_h = images ? images->h : (size_t)s->image,
        .image_w = images ? images->w : (size_t)s->image,
        .classes = classes,
        .norm = (enum norm_kind)s->norm,
        .groups = (size_t)s->groups,
        .eps = s->eps,
        .conv_bias = s->conv_bias,
        .renorm = {.rmax = s->renorm_rmax, .dmax = s->renorm_dmax, .warmup = (double)s->renorm_warmup,
                   .rmax_step = (double)s->renorm_rmax_step, .dmax_step = (double)s->renorm_dmax_step},
    };
    for (size_t i = 0; i < net.blocks; i++)
        net.channels[i] = (size_t)s->channels.values[i];
    return net;
}

static struct optim_config optimizer(const struct settings *s)
{
    return (struct optim_config){
        .kind = (enum optim_kind)s->optimizer,
        .momentum = s->momentum,
        .nesterov = s->nesterov,
        .beta1 = s->beta1,
        .beta2 = s->beta2,
        .eps = s->opt_eps,
        .weight_decay = s->weight_decay,
        .project = s->radial == RADIAL_PROJECT,
    };
}

struct schedule_config configure_schedule(const struct settings *s)
{
    return (struct schedule_config){
        .kind = (enum schedule_kind)s->schedule,
        .lr = s->lr,
        .steps = (uint64_t)s->steps,
        .warmup = (uint64_t)s->warmup,
        .min = s->lr_min,
        .interval = (uint64_t)s->lr_interval,
        .gamma = s->lr_gamma,
        .peak = s->cycle_peak,
        .div = s->cycle_div,
        .final_div = s->cycle_final_div,
    };
}

/* One more than the largest label of a file; settings->classes for templates. */
static size_t class_count(const struct settings *s, const struct task_images *images)
{
    int32_t largest = 0;
    if (!images)
        return (size_t)s->classes;
    for (size_t i = 0; i < images->train_n; i++)
        largest = images->train_y[i] > largest ? images->train_y[i] : largest;
    for (size_t i = 0; i < images->val_n; i++)
        largest = images->val_y[i] > largest ? images->val_y[i] : largest;
    return (size_t)largest + 1;
}

static void freeze(const struct settings *s, struct trajectory_config *out)
{
    for (size_t i = 0; i < out->net.blocks; i++)
        out->frozen[i] = s->freeze >> i & 1;
    out->frozen[out->net.blocks] = (s->freeze & SETTINGS_FREEZE_LINEAR) != 0;
    out->freeze_from = (uint64_t)s->freeze_from;
    out->freeze_stats = (enum freeze_stats_kind)s->freeze_stats;
}

enum status configure_trajectory(const struct settings *s, size_t count, const double *momenta,
                                 const struct configure_files *files, struct trajectory_config *out)
{
    if (count < 1 || count > TRAJECTORY_MAX_MOMENTA)
        return status_fail(STATUS_INPUT, "%zu momenta in one trajectory; from 1 to %d are possible", count, TRAJECTORY_MAX_MOMENTA);
    if ((s->data == DATA_FILE) != (files->images != NULL) || (strcmp(s->init, "default") != 0) != (files->init_count != 0))
        return status_fail(STATUS_INPUT, "the files that were read are not those the settings name");
    size_t classes = class_count(s, files->images);
    *out = (struct trajectory_config){
        .net = network(s, files->images, classes),
        .optim = optimizer(s),
        .schedule = configure_schedule(s),
        .plan = configure_plan(s),
        .seed = (uint32_t)s->seed,
        .momenta_count = count,
        .init_count = files->init_count,
        .init = files->init,
    };
    out->task = (struct task_config){
        .data = (enum data_kind)s->data,
        .noise = s->noise,
        .signal = s->signal,
        .classes = classes,
        .image_channels = out->net.image_channels,
        .image_h = out->net.image_h,
        .image_w = out->net.image_w,
        .seed = (uint32_t)s->seed,
        .task_seed = (uint32_t)(s->task_seed == SETTINGS_PER_SEED ? s->seed : s->task_seed),
        .order = (enum order_kind)s->order,
        .images = files->images,
        .batch = (size_t)s->batch,
        .val_size = (size_t)s->val_size,
    };
    memcpy(out->momenta, momenta, count * sizeof *momenta);
    freeze(s, out);
    return STATUS_OK;
}

#include "bnsweep/run/applied.h"

#include "bnsweep/sweep/settings_text.h"

#include <string.h>

static void read_task(const struct trajectory *t, struct settings *out)
{
    const struct task_config *task = &t->task.config;
    out->data = task->data;
    out->noise = task->noise;
    out->signal = task->signal;
    out->classes = (int64_t)t->net.params[t->net.linear_bias].channels;
    out->image = (int64_t)t->net.block[0].conv.h;
    out->image_channels = (int64_t)t->net.block[0].conv.cin;
    out->order = task->order;
    out->seed = task->seed;
    out->batch = (int64_t)t->pass.n;
    out->val_size = (int64_t)task->val_size;
}

static void read_network(const struct trajectory *t, size_t unit, struct settings *out)
{
    const struct net_config *config = &t->net.config;
    out->channels = (struct settings_ints){.count = (int64_t)config->blocks};
    for (size_t i = 0; i < config->blocks; i++)
        out->channels.values[i] = (int64_t)t->net.params[t->net.block[i].weight].channels;
    out->norm = config->norm;
    out->groups = (int64_t)config->groups;
    out->eps = config->eps;
    out->conv_bias = t->net.block[0].bias >= 0;
    out->renorm_rmax = config->renorm.rmax;
    out->renorm_dmax = config->renorm.dmax;
    out->renorm_warmup = (int64_t)config->renorm.warmup;
    out->renorm_rmax_step = (int64_t)config->renorm.rmax_step;
    out->renorm_dmax_step = (int64_t)config->renorm.dmax_step;
    out->bn_momentum = t->running[unit].momentum;
    out->freeze = 0;
    for (size_t i = 0; i < config->blocks; i++)
        out->freeze |= (int64_t)t->config.frozen[i] << i;
    if (t->config.frozen[config->blocks])
        out->freeze |= SETTINGS_FREEZE_LINEAR;
    out->freeze_from = (int64_t)t->config.freeze_from;
    out->freeze_stats = t->config.freeze_stats;
}

static void read_training(const struct trajectory *t, struct settings *out)
{
    const struct optim_config *optim = &t->optim.config;
    const struct schedule_config *schedule = &t->config.schedule;
    out->optimizer = optim->kind;
    out->momentum = optim->momentum;
    out->nesterov = optim->nesterov;
    out->beta1 = optim->beta1;
    out->beta2 = optim->beta2;
    out->opt_eps = optim->eps;
    out->weight_decay = optim->weight_decay;
    out->radial = optim->project ? RADIAL_PROJECT : RADIAL_KEEP;
    out->schedule = schedule->kind;
    out->lr = schedule->lr;
    out->steps = (int64_t)schedule->steps;
    out->warmup = (int64_t)schedule->warmup;
    out->lr_min = schedule->min;
    out->lr_interval = (int64_t)schedule->interval;
    out->lr_gamma = schedule->gamma;
    out->cycle_peak = schedule->peak;
    out->cycle_div = schedule->div;
    out->cycle_final_div = schedule->final_div;
}

static void read_plan(const struct plan *plan, struct settings *out)
{
    out->first_check = (int64_t)plan->first_check;
    out->check_every = (int64_t)plan->check_every;
    out->angle_window = (int64_t)plan->angle_window;
    out->trace_every = (int64_t)plan->trace_every;
    out->probe_size = (int64_t)plan->probe_size;
    out->keep_batch_stats = plan->keep_batch_stats;
    out->probe_writes_stats = plan->probe_writes_stats;
    out->reest = plan->reest;
    out->swap_layer = plan->swap_layer;
    out->swap_top = plan->swap_top;
    out->ema = plan->ema;
    out->reest_batches = (struct settings_ints){.count = (int64_t)plan->reest_count};
    out->ema_decays = (struct settings_reals){.count = (int64_t)plan->ema_count};
    for (size_t i = 0; i < plan->reest_count; i++)
        out->reest_batches.values[i] = (int64_t)plan->reest_batches[i];
    for (size_t i = 0; i < plan->ema_count; i++)
        out->ema_decays.values[i] = plan->ema_decays[i];
}

void applied_read(const struct trajectory *t, size_t unit, const struct settings *asked, struct settings *out)
{
    *out = *asked; /* what is left of it: name, paths, hashes */
    read_task(t, out);
    read_network(t, unit, out);
    read_training(t, out);
    read_plan(&t->window.plan, out);
    bool per_seed = asked->task_seed == SETTINGS_PER_SEED && t->task.config.task_seed == t->task.config.seed;
    out->task_seed = per_seed ? SETTINGS_PER_SEED : (int64_t)t->task.config.task_seed;
    settings_prune(out);
}

enum status applied_check(const struct settings *asked, const struct settings *applied)
{
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        if (!settings_relevant(asked, key) || settings_same(asked, applied, key))
            continue;
        char wanted[SETTINGS_VALUE_SIZE], found[SETTINGS_VALUE_SIZE];
        settings_text_format(asked, key, wanted);
        settings_text_format(applied, key, found);
        return status_fail(STATUS_INTERNAL, "%s = %.200s was asked for, but %.200s was applied", settings_table[key].key, wanted, found);
    }
    return STATUS_OK;
}

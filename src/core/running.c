#include "bnsweep/core/running.h"

enum status running_create(struct running *running, const struct net *net, double momentum, struct arena *arena)
{
    running->momentum = momentum;
    running->mean = arena_array(arena, net->channels, sizeof(real));
    running->var = arena_array(arena, net->channels, sizeof(real));
    if (!running->mean || !running->var)
        return STATUS_NOMEM;
    for (size_t c = 0; c < net->channels; c++)
        running->var[c] = 1;
    return STATUS_OK;
}

enum status running_batch_create(struct running_batch *batch, const struct net *net, struct arena *arena)
{
    batch->mean = arena_array(arena, net->channels, sizeof(double));
    batch->var = arena_array(arena, net->channels, sizeof(double));
    return batch->mean && batch->var ? STATUS_OK : STATUS_NOMEM;
}

enum status running_transform_create(struct batchnorm_transform *transform, const struct net *net, struct arena *arena)
{
    transform->mean = arena_array(arena, net->channels, sizeof(double));
    transform->invstd = arena_array(arena, net->channels, sizeof(double));
    transform->r = arena_array(arena, net->channels, sizeof(double));
    transform->d = arena_array(arena, net->channels, sizeof(double));
    transform->batch = false;
    return transform->mean && transform->invstd && transform->r && transform->d ? STATUS_OK : STATUS_NOMEM;
}

struct batchnorm_transform running_transform_block(const struct net *net, size_t block, const struct batchnorm_transform *all)
{
    size_t first = net->block[block].first_channel;
    return (struct batchnorm_transform){all->mean + first, all->invstd + first, all->r + first, all->d + first, all->batch};
}

struct batchnorm_transform running_training(const struct net *net, size_t block, const struct running_mode *mode,
                                            const struct running_batch *batch, struct batchnorm_transform *all)
{
    size_t first = net->block[block].first_channel, channels = net->block[block].conv.cout;
    struct batchnorm_transform part = running_transform_block(net, block, all);
    if (mode->held[block]) {
        batchnorm_transform_running(channels, mode->running->mean + first, mode->running->var + first, net->config.eps, &part);
        return part;
    }
    batchnorm_transform_set(channels, batch->mean + first, batch->var + first, net->config.eps, true, &part);
    if (net->config.norm == NORM_BATCHRENORM && !mode->plain)
        batchnorm_transform_renorm(channels, &net->config.renorm, net->config.eps, mode->step, mode->running->mean + first,
                                   mode->running->var + first, &part);
    return part;
}

void running_evaluation(const struct net *net, const struct running *running, struct batchnorm_transform *all)
{
    batchnorm_transform_running(net->channels, running->mean, running->var, net->config.eps, all);
}

void running_evaluation_batch(const struct net *net, const struct running_batch *batch, struct batchnorm_transform *all)
{
    batchnorm_transform_set(net->channels, batch->mean, batch->var, net->config.eps, false, all);
}

void running_update(const struct net *net, const bool *held, const struct running_batch *batch, size_t n, struct running *running)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct net_block *block = &net->block[i];
        size_t first = block->first_channel;
        if (held[i])
            continue;
        if (net->config.norm == NORM_BATCHRENORM)
            batchnorm_update_renorm(block->conv.cout, batch->mean + first, batch->var + first, net->config.eps, running->momentum,
                                    running->mean + first, running->var + first);
        else
            batchnorm_update(block->conv.cout, batch->mean + first, batch->var + first,
                             (double)(n * block->conv.h * block->conv.w), running->momentum, running->mean + first,
                             running->var + first);
    }
}

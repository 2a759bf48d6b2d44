#include "bnsweep/core/net.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/core/groupnorm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const layer_of_kind[] = {"conv", "conv", "norm", "norm", "linear", "linear"};
static const char *const tensor_of_kind[] = {"weight", "bias", "weight", "bias", "weight", "bias"};

static int add_param(struct net *net, enum net_param_kind kind, size_t block, size_t length, size_t channels)
{
    struct net_param *param = &net->params[net->param_count];
    if (kind < NET_LINEAR_WEIGHT)
        snprintf(param->name, sizeof param->name, "%s%zu.%s", layer_of_kind[kind], block + 1, tensor_of_kind[kind]);
    else
        snprintf(param->name, sizeof param->name, "%s.%s", layer_of_kind[kind], tensor_of_kind[kind]);
    param->kind = kind;
    param->block = block;
    param->offset = net->size;
    param->length = length;
    param->channels = channels;
    net->size += length * channels;
    return net->param_count++;
}

static enum status plan_block(struct net *net, size_t index, size_t h, size_t w, size_t cin)
{
    const struct net_config *config = &net->config;
    struct net_block *block = &net->block[index];
    block->conv = (struct conv_shape){h, w, cin, config->channels[index]};
    block->pool = index + 1 < config->blocks;
    block->out_h = block->pool ? h / 2 : h;
    block->out_w = block->pool ? w / 2 : w;
    block->first_channel = net->channels;
    enum status status = conv_check(&block->conv, 1);
    if (!status && (!block->out_h || !block->out_w))
        status = status_fail(STATUS_SHAPE, "an image of %zux%zu pools away to nothing before the last of %zu blocks",
                             config->image_h, config->image_w, config->blocks);
    if (!status && config->norm == NORM_GROUP)
        status = groupnorm_check(block->conv.cout, config->groups);
    if (status)
        return status_context(status, "block %zu", index + 1);
    size_t cout = block->conv.cout;
    block->weight = add_param(net, NET_CONV_WEIGHT, index, CONV_TAPS * cin, cout);
    block->bias = config->conv_bias ? add_param(net, NET_CONV_BIAS, index, 1, cout) : -1;
    block->gamma = config->norm != NORM_NONE ? add_param(net, NET_NORM_WEIGHT, index, 1, cout) : -1;
    block->beta = config->norm != NORM_NONE ? add_param(net, NET_NORM_BIAS, index, 1, cout) : -1;
    net->channels += cout;
    return STATUS_OK;
}

enum status net_plan(const struct net_config *config, const struct engine *engine, struct net *out)
{
    *out = (struct net){.config = *config, .engine = engine};
    if (config->blocks < 1 || config->blocks > NET_MAX_BLOCKS)
        return status_fail(STATUS_SHAPE, "%zu blocks; from 1 to %d are possible", config->blocks, NET_MAX_BLOCKS);
    if (config->classes < 2 || config->classes > INT_MAX)
        return status_fail(STATUS_SHAPE, "%zu classes; from 2 to %d are possible", config->classes, INT_MAX);
    size_t h = config->image_h, w = config->image_w, c = config->image_channels;
    for (size_t i = 0; i < config->blocks; i++) {
        enum status status = plan_block(out, i, h, w, c);
        if (status)
            return status;
        h = out->block[i].out_h;
        w = out->block[i].out_w;
        c = config->channels[i];
    }
    size_t linear = c;
    if (!mem_multiply(&linear, config->classes) || linear > INT_MAX)
        return status_fail(STATUS_SHAPE, "a linear layer from %zu features to %zu classes is too large", c, config->classes);
    out->features = c;
    out->linear_weight = add_param(out, NET_LINEAR_WEIGHT, config->blocks, c, config->classes);
    out->linear_bias = add_param(out, NET_LINEAR_BIAS, config->blocks, 1, config->classes);
    return STATUS_OK;
}

bool net_has_running(const struct net *net)
{
    return net->config.norm == NORM_BATCH || net->config.norm == NORM_BATCHRENORM;
}

bool net_is_grouped(const struct net *net)
{
    return net->config.norm == NORM_GROUP || net->config.norm == NORM_LAYER;
}

size_t net_groups(const struct net *net)
{
    return net->config.norm == NORM_GROUP ? net->config.groups : 1;
}

int net_find_param(const struct net *net, const char *name)
{
    for (int i = 0; i < net->param_count; i++)
        if (strcmp(net->params[i].name, name) == 0)
            return i;
    return -1;
}

double net_multiply_adds(const struct net *net)
{
    double total = (double)net->features * (double)net->config.classes;
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct conv_shape *conv = &net->block[i].conv;
        total += (double)conv->h * (double)conv->w * CONV_TAPS * (double)conv->cin * (double)conv->cout;
    }
    return total;
}

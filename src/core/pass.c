#include "bnsweep/core/pass.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/core/groupnorm.h"
#include "bnsweep/core/layers.h"

#include <string.h>

static bool grouped(const struct net *net)
{
    return net->config.norm == NORM_GROUP || net->config.norm == NORM_LAYER;
}

static struct groupnorm_shape group_shape(const struct net *net, const struct net_block *block, size_t n)
{
    return (struct groupnorm_shape){n, block->conv.cout, block->conv.h * block->conv.w,
                                    net->config.norm == NORM_LAYER ? 1 : net->config.groups, net->config.eps};
}

static enum status create_block(struct pass *pass, size_t index, struct arena *arena)
{
    const struct net_block *shape = &pass->net->block[index];
    struct pass_block *block = &pass->block[index];
    size_t pixels = pass->n * shape->conv.h * shape->conv.w;
    block->z = arena_array(arena, pixels * shape->conv.cout, sizeof(real));
    block->a = arena_array(arena, pixels * shape->conv.cout, sizeof(real));
    block->out = shape->pool ? arena_array(arena, pass->n * shape->out_h * shape->out_w * shape->conv.cout, sizeof(real)) : block->a;
    if (!block->z || !block->a || !block->out)
        return STATUS_NOMEM;
    if (net_has_running(pass->net))
        return moments_create(&block->moments, shape->conv.cout, arena);
    if (!grouped(pass->net))
        return STATUS_OK;
    size_t groups = group_shape(pass->net, shape, pass->n).groups;
    block->group_mean = arena_array(arena, pass->n * groups, sizeof(double));
    block->group_invstd = arena_array(arena, pass->n * groups, sizeof(double));
    return block->group_mean && block->group_invstd ? STATUS_OK : STATUS_NOMEM;
}

enum status pass_create(struct pass *pass, const struct net *net, size_t n, struct arena *arena)
{
    *pass = (struct pass){.net = net, .n = n};
    size_t largest = 0, workspace = 0;
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct conv_shape *conv = &net->block[i].conv;
        enum status status = conv_check(conv, n);
        if (!status)
            status = create_block(pass, i, arena);
        if (status)
            return status_context(status, "block %zu", i + 1);
        size_t size = n * conv->h * conv->w * (conv->cin > conv->cout ? conv->cin : conv->cout);
        size_t need = net->engine->workspace(conv);
        largest = size > largest ? size : largest;
        workspace = need > workspace ? need : workspace;
    }
    const struct net_config *config = &net->config;
    pass->x = arena_array(arena, n * config->image_h * config->image_w * config->image_channels, sizeof(real));
    pass->labels = arena_array(arena, n, sizeof(int32_t));
    pass->features = arena_array(arena, n * net->features, sizeof(real));
    pass->dfeatures = arena_array(arena, n * net->features, sizeof(real));
    pass->logits = arena_array(arena, n, config->classes * sizeof(real));
    pass->dlogits = arena_array(arena, n, config->classes * sizeof(real));
    pass->gradient[0] = arena_array(arena, largest, sizeof(real));
    pass->gradient[1] = arena_array(arena, largest, sizeof(real));
    pass->workspace = arena_array(arena, workspace, sizeof(real));
    if (!pass->x || !pass->labels || !pass->features || !pass->dfeatures || !pass->logits || !pass->dlogits ||
        !pass->gradient[0] || !pass->gradient[1] || !pass->workspace)
        return STATUS_NOMEM;
    enum status status = running_batch_create(&pass->batch, net, arena);
    return status ? status : running_transform_create(&pass->transform, net, arena);
}

/* block->a = the norm layer's output for block->z. */
static enum status forward_norm(struct pass *pass, size_t index, const struct running_mode *mode, const real *weights)
{
    const struct net *net = pass->net;
    const struct net_block *shape = &net->block[index];
    struct pass_block *block = &pass->block[index];
    size_t pixels = shape->conv.h * shape->conv.w, channels = shape->conv.cout;
    if (net->config.norm == NORM_NONE) {
        memcpy(block->a, block->z, pass->n * pixels * channels * sizeof(real));
        return STATUS_OK;
    }
    const real *gamma = weights + net->params[shape->gamma].offset, *beta = weights + net->params[shape->beta].offset;
    if (grouped(net)) {
        struct groupnorm_shape group = group_shape(net, shape, pass->n);
        groupnorm_forward(&group, gamma, beta, block->z, block->group_mean, block->group_invstd, block->a);
        return STATUS_OK;
    }
    if (!mode->held[index]) {
        struct batchnorm_shape batch = {pass->n, channels, pixels};
        enum status status = batchnorm_statistics(&batch, block->z, &block->moments);
        if (status)
            return status_context(status, "norm%zu", index + 1);
        memcpy(pass->batch.mean + shape->first_channel, block->moments.mean, channels * sizeof(double));
        moments_variance(&block->moments, pass->batch.var + shape->first_channel);
    }
    block->transform = running_training(net, index, mode, &pass->batch, &pass->transform);
    batchnorm_forward(pass->n * pixels, channels, &block->transform, gamma, beta, block->z, block->a);
    return STATUS_OK;
}

static enum status forward_block(struct pass *pass, size_t index, const struct running_mode *mode, const real *weights, const real *x)
{
    const struct net *net = pass->net;
    const struct net_block *shape = &net->block[index];
    const struct conv_shape *conv = &shape->conv;
    struct pass_block *block = &pass->block[index];
    size_t rows = pass->n * conv->h * conv->w;
    net->engine->forward(conv, pass->n, x, weights + net->params[shape->weight].offset, block->z, pass->workspace);
    if (shape->bias >= 0)
        layers_bias(rows, conv->cout, weights + net->params[shape->bias].offset, block->z);
    enum status status = forward_norm(pass, index, mode, weights);
    if (status)
        return status;
    layers_relu(rows * conv->cout, block->a);
    if (shape->pool)
        layers_maxpool(pass->n, conv->h, conv->w, conv->cout, block->a, block->out);
    return STATUS_OK;
}

enum status pass_forward(struct pass *pass, const struct running_mode *mode, const real *weights, double *loss)
{
    const struct net *net = pass->net;
    const real *x = pass->x;
    for (size_t i = 0; i < net->config.blocks; i++) {
        enum status status = forward_block(pass, i, mode, weights, x);
        if (status)
            return status;
        x = pass->block[i].out;
    }
    const struct net_block *last = &net->block[net->config.blocks - 1];
    layers_average(pass->n, last->out_h * last->out_w, net->features, x, pass->features);
    layers_linear(pass->n, net->features, net->config.classes, pass->features, weights + net->params[net->linear_weight].offset,
                  weights + net->params[net->linear_bias].offset, pass->logits);
    *loss = layers_cross_entropy(pass->n, net->config.classes, pass->logits, pass->labels, pass->dlogits) / (double)pass->n;
    return STATUS_OK;
}

/* Turn d[n][h][w][cout], the gradient of the norm layer's output, into that of the convolution's output, in place. */
static void backward_norm(struct pass *pass, size_t index, const real *weights, real *gradient, real *d)
{
    const struct net *net = pass->net;
    const struct net_block *shape = &net->block[index];
    struct pass_block *block = &pass->block[index];
    if (net->config.norm == NORM_NONE)
        return;
    size_t gamma = net->params[shape->gamma].offset, beta = net->params[shape->beta].offset;
    if (grouped(net)) {
        struct groupnorm_shape group = group_shape(net, shape, pass->n);
        groupnorm_backward(&group, weights + gamma, block->z, block->group_mean, block->group_invstd, d, gradient + gamma,
                           gradient + beta, d);
        return;
    }
    batchnorm_backward(pass->n * shape->conv.h * shape->conv.w, shape->conv.cout, &block->transform, weights + gamma, block->z, d,
                       gradient + gamma, gradient + beta, d);
}

void pass_backward(struct pass *pass, const real *weights, real *gradient)
{
    const struct net *net = pass->net;
    const struct net_block *last = &net->block[net->config.blocks - 1];
    real *d = pass->gradient[0], *other = pass->gradient[1];
    memset(gradient, 0, net->size * sizeof(real));
    layers_linear_backward(pass->n, net->features, net->config.classes, pass->features,
                           weights + net->params[net->linear_weight].offset, pass->dlogits,
                           gradient + net->params[net->linear_weight].offset, gradient + net->params[net->linear_bias].offset,
                           pass->dfeatures);
    layers_average_backward(pass->n, last->out_h * last->out_w, net->features, pass->dfeatures, d);
    for (size_t i = net->config.blocks; i-- > 0;) {
        const struct net_block *shape = &net->block[i];
        const struct conv_shape *conv = &shape->conv;
        size_t rows = pass->n * conv->h * conv->w;
        if (shape->pool) {
            layers_maxpool_backward(pass->n, conv->h, conv->w, conv->cout, pass->block[i].a, d, other);
            real *held = d;
            d = other;
            other = held;
        }
        layers_relu_backward(rows * conv->cout, pass->block[i].a, d);
        backward_norm(pass, i, weights, gradient, d);
        if (shape->bias >= 0)
            layers_bias_backward(rows, conv->cout, d, gradient + net->params[shape->bias].offset);
        net->engine->backward_weights(conv, pass->n, i ? pass->block[i - 1].out : pass->x, d,
                                      gradient + net->params[shape->weight].offset, pass->workspace);
        if (i == 0)
            break;
        net->engine->backward_data(conv, pass->n, d, weights + net->params[shape->weight].offset, other, pass->workspace);
        real *held = d;
        d = other;
        other = held;
    }
}

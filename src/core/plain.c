#include "bnsweep/core/plain.h"

#include "bnsweep/core/groupnorm.h"
#include "bnsweep/core/layers.h"

#include <string.h>

static struct groupnorm_shape group_shape(const struct net *net, const struct net_block *block, size_t n)
{
    return (struct groupnorm_shape){n, block->conv.cout, block->conv.h * block->conv.w,
                                    net_groups(net), net->config.eps};
}

static enum status create_block(struct plain *plain, size_t index, struct arena *arena)
{
    const struct net_block *shape = &plain->net->block[index];
    struct plain_block *block = &plain->block[index];
    size_t pixels = plain->n * shape->conv.h * shape->conv.w;
    block->z = arena_array(arena, pixels * shape->conv.cout, sizeof(real));
    block->a = arena_array(arena, pixels * shape->conv.cout, sizeof(real));
    block->out = shape->pool ? arena_array(arena, plain->n * shape->out_h * shape->out_w * shape->conv.cout, sizeof(real)) : block->a;
    if (!block->z || !block->a || !block->out)
        return STATUS_NOMEM;
    if (net_has_running(plain->net))
        return moments_create(&block->moments, shape->conv.cout, arena);
    if (!net_is_grouped(plain->net))
        return STATUS_OK;
    size_t groups = group_shape(plain->net, shape, plain->n).groups;
    block->group_mean = arena_array(arena, plain->n * groups, sizeof(double));
    block->group_invstd = arena_array(arena, plain->n * groups, sizeof(double));
    return block->group_mean && block->group_invstd ? STATUS_OK : STATUS_NOMEM;
}

enum status plain_create(struct plain *plain, const struct net *net, size_t n, struct arena *arena)
{
    *plain = (struct plain){.net = net, .n = n};
    size_t largest = 0, workspace = 0;
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct conv_shape *conv = &net->block[i].conv;
        enum status status = conv_check(conv, n);
        if (!status)
            status = create_block(plain, i, arena);
        if (status)
            return status_context(status, "block %zu", i + 1);
        size_t size = n * conv->h * conv->w * (conv->cin > conv->cout ? conv->cin : conv->cout);
        size_t need = conv_workspace(conv);
        largest = size > largest ? size : largest;
        workspace = need > workspace ? need : workspace;
    }
    plain->gradient[0] = arena_array(arena, largest, sizeof(real));
    plain->gradient[1] = arena_array(arena, largest, sizeof(real));
    plain->workspace = arena_array(arena, workspace, sizeof(real));
    return plain->gradient[0] && plain->gradient[1] && plain->workspace ? STATUS_OK : STATUS_NOMEM;
}

/* block->a = the norm layer's output for block->z. */
static enum status forward_norm(struct plain *plain, size_t index, const struct running_mode *mode, const real *weights,
                                struct running_batch *statistics, struct batchnorm_transform *transform)
{
    const struct net *net = plain->net;
    const struct net_block *shape = &net->block[index];
    struct plain_block *block = &plain->block[index];
    size_t pixels = shape->conv.h * shape->conv.w, channels = shape->conv.cout;
    if (net->config.norm == NORM_NONE) {
        memcpy(block->a, block->z, plain->n * pixels * channels * sizeof(real));
        return STATUS_OK;
    }
    const real *gamma = weights + net->params[shape->gamma].offset, *beta = weights + net->params[shape->beta].offset;
    if (net_is_grouped(net)) {
        struct groupnorm_shape group = group_shape(net, shape, plain->n);
        groupnorm_forward(&group, gamma, beta, block->z, block->group_mean, block->group_invstd, block->a);
        return STATUS_OK;
    }
    if (!mode->held[index]) {
        struct batchnorm_shape batch = {plain->n, channels, pixels};
        enum status status = batchnorm_statistics(&batch, block->z, &block->moments);
        if (status)
            return status_context(status, "norm%zu", index + 1);
        memcpy(statistics->mean + shape->first_channel, block->moments.mean, channels * sizeof(double));
        moments_variance(&block->moments, statistics->var + shape->first_channel);
    }
    block->transform = running_training(net, index, mode, statistics, transform);
    batchnorm_forward(plain->n * pixels, channels, &block->transform, gamma, beta, block->z, block->a);
    return STATUS_OK;
}

static enum status forward_block(struct plain *plain, size_t index, const struct running_mode *mode, const real *weights, const real *x,
                                 struct running_batch *batch, struct batchnorm_transform *transform)
{
    const struct net *net = plain->net;
    const struct net_block *shape = &net->block[index];
    const struct conv_shape *conv = &shape->conv;
    struct plain_block *block = &plain->block[index];
    size_t rows = plain->n * conv->h * conv->w;
    conv_forward(conv, plain->n, x, weights + net->params[shape->weight].offset, block->z, plain->workspace);
    if (shape->bias >= 0)
        layers_bias(rows, conv->cout, weights + net->params[shape->bias].offset, block->z);
    enum status status = forward_norm(plain, index, mode, weights, batch, transform);
    if (status)
        return status;
    layers_relu(rows * conv->cout, block->a);
    if (shape->pool)
        layers_maxpool(plain->n, conv->h, conv->w, conv->cout, block->a, block->out);
    return STATUS_OK;
}

enum status plain_forward(struct plain *plain, const struct running_mode *mode, const real *weights, const real *x,
                          struct running_batch *batch, struct batchnorm_transform *transform, real *features)
{
    const struct net *net = plain->net;
    for (size_t i = 0; i < net->config.blocks; i++) {
        enum status status = forward_block(plain, i, mode, weights, x, batch, transform);
        if (status)
            return status;
        x = plain->block[i].out;
    }
    const struct net_block *last = &net->block[net->config.blocks - 1];
    layers_average(plain->n, last->out_h * last->out_w, net->features, x, features);
    return STATUS_OK;
}

/* Turn d[n][h][w][cout], the gradient of the norm layer's output, into that of the convolution's output, in place. */
static void backward_norm(struct plain *plain, size_t index, const real *weights, real *gradient, real *d)
{
    const struct net *net = plain->net;
    const struct net_block *shape = &net->block[index];
    struct plain_block *block = &plain->block[index];
    if (net->config.norm == NORM_NONE)
        return;
    size_t gamma = net->params[shape->gamma].offset, beta = net->params[shape->beta].offset;
    if (net_is_grouped(net)) {
        struct groupnorm_shape group = group_shape(net, shape, plain->n);
        groupnorm_backward(&group, weights + gamma, block->z, block->group_mean, block->group_invstd, d, gradient + gamma,
                           gradient + beta, d);
        return;
    }
    batchnorm_backward(plain->n * shape->conv.h * shape->conv.w, shape->conv.cout, &block->transform, weights + gamma, block->z, d,
                       gradient + gamma, gradient + beta, d);
}

void plain_backward(struct plain *plain, const real *weights, const real *x, const real *dfeatures, real *gradient)
{
    const struct net *net = plain->net;
    const struct net_block *last = &net->block[net->config.blocks - 1];
    real *d = plain->gradient[0], *other = plain->gradient[1];
    layers_average_backward(plain->n, last->out_h * last->out_w, net->features, dfeatures, d);
    for (size_t i = net->config.blocks; i-- > 0;) {
        const struct net_block *shape = &net->block[i];
        const struct conv_shape *conv = &shape->conv;
        size_t rows = plain->n * conv->h * conv->w;
        if (shape->pool) {
            layers_maxpool_backward(plain->n, conv->h, conv->w, conv->cout, plain->block[i].a, d, other);
            real *held = d;
            d = other;
            other = held;
        }
        layers_relu_backward(rows * conv->cout, plain->block[i].a, d);
        backward_norm(plain, i, weights, gradient, d);
        if (shape->bias >= 0)
            layers_bias_backward(rows, conv->cout, d, gradient + net->params[shape->bias].offset);
        conv_backward_weights(conv, plain->n, i ? plain->block[i - 1].out : x, d,
                                      gradient + net->params[shape->weight].offset, plain->workspace);
        if (i == 0)
            break;
        conv_backward_data(conv, plain->n, d, weights + net->params[shape->weight].offset, other, plain->workspace);
        real *held = d;
        d = other;
        other = held;
    }
}

#include "bnsweep/core/infer.h"

#include "bnsweep/core/groupnorm.h"
#include "bnsweep/core/layers.h"

#include <string.h>

enum { CHUNK = 16 };

static size_t groups_of(const struct net *net)
{
    return net->config.norm == NORM_GROUP ? net->config.groups : 1;
}

enum status infer_create(struct infer *infer, const struct net *net, struct arena *arena)
{
    *infer = (struct infer){.net = net};
    size_t z = 0, out = 1, workspace = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < net->config.blocks; i++) {
        const struct net_block *block = &net->block[i];
        size_t size = block->conv.h * block->conv.w * block->conv.cout, pooled = block->out_h * block->out_w * block->conv.cout;
        size_t need = net->engine->workspace(&block->conv);
        z = size > z ? size : z;
        out = block->pool && pooled > out ? pooled : out;
        workspace = need > workspace ? need : workspace;
        status = moments_create(&infer->moments[i], block->conv.cout, arena);
    }
    if (status)
        return status;
    infer->z = arena_array(arena, z, CHUNK * sizeof(real));
    infer->out = arena_array(arena, out, CHUNK * sizeof(real));
    infer->group_mean = arena_array(arena, groups_of(net), CHUNK * sizeof(double));
    infer->group_invstd = arena_array(arena, groups_of(net), CHUNK * sizeof(double));
    infer->features = arena_array(arena, net->features, CHUNK * sizeof(real));
    infer->logits = arena_array(arena, net->config.classes, CHUNK * sizeof(real));
    infer->workspace = arena_array(arena, workspace, sizeof(real));
    return infer->z && infer->out && infer->group_mean && infer->group_invstd && infer->features && infer->logits &&
                   infer->workspace
               ? STATUS_OK
               : STATUS_NOMEM;
}

/* infer->z = the block's convolution of x[n]. */
static void convolve(struct infer *infer, size_t index, const real *weights, size_t n, const real *x)
{
    const struct net *net = infer->net;
    const struct net_block *block = &net->block[index];
    net->engine->forward(&block->conv, n, x, weights + net->params[block->weight].offset, infer->z, infer->workspace);
    if (block->bias >= 0)
        layers_bias(n * block->conv.h * block->conv.w, block->conv.cout, weights + net->params[block->bias].offset, infer->z);
}

/* Take infer->z through the norm layer and ReLU, in place, and the pool; return the block's output. */
static const real *finish_block(struct infer *infer, size_t index, const real *weights, size_t n,
                                const struct batchnorm_transform *transform)
{
    const struct net *net = infer->net;
    const struct net_block *block = &net->block[index];
    const struct conv_shape *conv = &block->conv;
    size_t rows = n * conv->h * conv->w;
    if (net->config.norm != NORM_NONE) {
        const real *gamma = weights + net->params[block->gamma].offset, *beta = weights + net->params[block->beta].offset;
        if (net_has_running(net)) {
            struct batchnorm_transform part = running_transform_block(net, index, transform);
            batchnorm_forward(rows, conv->cout, &part, gamma, beta, infer->z, infer->z);
        } else {
            struct groupnorm_shape shape = {n, conv->cout, conv->h * conv->w, groups_of(net), net->config.eps};
            groupnorm_forward(&shape, gamma, beta, infer->z, infer->group_mean, infer->group_invstd, infer->z);
        }
    }
    layers_relu(rows * conv->cout, infer->z);
    if (!block->pool)
        return infer->z;
    layers_maxpool(n, conv->h, conv->w, conv->cout, infer->z, infer->out);
    return infer->out;
}

void infer_statistics(struct infer *infer, const struct running_mode *mode, const real *weights, const struct infer_set *set,
                      struct running_batch *batch, struct batchnorm_transform *transform)
{
    const struct net *net = infer->net;
    size_t image = net->config.image_h * net->config.image_w * net->config.image_channels;
    for (size_t target = 0; target < net->config.blocks; target++) {
        const struct net_block *block = &net->block[target];
        struct moments *moments = &infer->moments[target];
        moments_reset(moments);
        for (size_t i = 0; i < set->n; i += CHUNK) {
            size_t here = set->n - i < CHUNK ? set->n - i : CHUNK;
            const real *x = set->x + i * image;
            for (size_t before = 0; before < target; before++) {
                convolve(infer, before, weights, here, x);
                x = finish_block(infer, before, weights, here, transform);
            }
            convolve(infer, target, weights, here, x);
            moments_add(moments, here * block->conv.h * block->conv.w, infer->z);
        }
        memcpy(batch->mean + block->first_channel, moments->mean, block->conv.cout * sizeof(double));
        moments_variance(moments, batch->var + block->first_channel);
        if (net_has_running(net))
            running_training(net, target, mode, batch, transform);
    }
}

struct infer_score infer_evaluate(struct infer *infer, const real *weights, const struct batchnorm_transform *transform,
                                  const struct infer_set *set)
{
    const struct net *net = infer->net;
    const struct net_block *last = &net->block[net->config.blocks - 1];
    size_t image = net->config.image_h * net->config.image_w * net->config.image_channels, correct = 0;
    double loss = 0;
    for (size_t i = 0; i < set->n; i += CHUNK) {
        size_t here = set->n - i < CHUNK ? set->n - i : CHUNK;
        const real *x = set->x + i * image;
        for (size_t block = 0; block < net->config.blocks; block++) {
            convolve(infer, block, weights, here, x);
            x = finish_block(infer, block, weights, here, transform);
        }
        layers_average(here, last->out_h * last->out_w, net->features, x, infer->features);
        layers_linear(here, net->features, net->config.classes, infer->features, weights + net->params[net->linear_weight].offset,
                      weights + net->params[net->linear_bias].offset, infer->logits);
        loss += layers_cross_entropy(here, net->config.classes, infer->logits, set->labels + i, NULL);
        correct += layers_correct(here, net->config.classes, infer->logits, set->labels + i);
    }
    return (struct infer_score){(double)correct / (double)set->n, loss / (double)set->n};
}

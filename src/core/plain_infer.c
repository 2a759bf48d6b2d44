#include "bnsweep/core/plain_infer.h"

#include "bnsweep/core/groupnorm.h"
#include "bnsweep/core/layers.h"

#include <string.h>

enum status plain_infer_create(struct plain_infer *plain, const struct net *net, struct arena *arena)
{
    *plain = (struct plain_infer){.net = net};
    size_t z = 0, out = 1, workspace = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < net->config.blocks; i++) {
        const struct net_block *block = &net->block[i];
        size_t size = block->conv.h * block->conv.w * block->conv.cout, pooled = block->out_h * block->out_w * block->conv.cout;
        size_t need = conv_workspace(&block->conv);
        z = size > z ? size : z;
        out = block->pool && pooled > out ? pooled : out;
        workspace = need > workspace ? need : workspace;
        status = moments_create(&plain->moments[i], block->conv.cout, arena);
    }
    if (status)
        return status;
    plain->z = arena_array(arena, z, INFER_CHUNK * sizeof(real));
    plain->out = arena_array(arena, out, INFER_CHUNK * sizeof(real));
    plain->group_mean = arena_array(arena, net_groups(net), INFER_CHUNK * sizeof(double));
    plain->group_invstd = arena_array(arena, net_groups(net), INFER_CHUNK * sizeof(double));
    plain->workspace = arena_array(arena, workspace, sizeof(real));
    return plain->z && plain->out && plain->group_mean && plain->group_invstd && plain->workspace ? STATUS_OK : STATUS_NOMEM;
}

/* plain->z = the block's convolution of x[n]. */
static void convolve(struct plain_infer *plain, size_t index, const real *weights, size_t n, const real *x)
{
    const struct net *net = plain->net;
    const struct net_block *block = &net->block[index];
    conv_forward(&block->conv, n, x, weights + net->params[block->weight].offset, plain->z, plain->workspace);
    if (block->bias >= 0)
        layers_bias(n * block->conv.h * block->conv.w, block->conv.cout, weights + net->params[block->bias].offset, plain->z);
}

/* Take plain->z through the norm layer and ReLU, in place, and the pool; return the block's output. */
static const real *finish_block(struct plain_infer *plain, size_t index, const real *weights, size_t n,
                                const struct batchnorm_transform *transform)
{
    const struct net *net = plain->net;
    const struct net_block *block = &net->block[index];
    const struct conv_shape *conv = &block->conv;
    size_t rows = n * conv->h * conv->w;
    if (net->config.norm != NORM_NONE) {
        const real *gamma = weights + net->params[block->gamma].offset, *beta = weights + net->params[block->beta].offset;
        if (net_has_running(net)) {
            struct batchnorm_transform part = running_transform_block(net, index, transform);
            batchnorm_forward(rows, conv->cout, &part, gamma, beta, plain->z, plain->z);
        } else {
            struct groupnorm_shape shape = {n, conv->cout, conv->h * conv->w, net_groups(net), net->config.eps};
            groupnorm_forward(&shape, gamma, beta, plain->z, plain->group_mean, plain->group_invstd, plain->z);
        }
    }
    layers_relu(rows * conv->cout, plain->z);
    if (!block->pool)
        return plain->z;
    layers_maxpool(n, conv->h, conv->w, conv->cout, plain->z, plain->out);
    return plain->out;
}

/* Take x[n] through the first `count` blocks. */
static const real *through(struct plain_infer *plain, size_t count, const real *weights, size_t n, const real *x,
                           const struct batchnorm_transform *transform)
{
    for (size_t i = 0; i < count; i++) {
        convolve(plain, i, weights, n, x);
        x = finish_block(plain, i, weights, n, transform);
    }
    return x;
}

void plain_infer_moments(struct plain_infer *plain, const real *weights, size_t target, size_t n, const real *x,
                         const struct batchnorm_transform *transform)
{
    const struct conv_shape *conv = &plain->net->block[target].conv;
    convolve(plain, target, weights, n, through(plain, target, weights, n, x, transform));
    moments_add(&plain->moments[target], n * conv->h * conv->w, plain->z);
}

void plain_infer_features(struct plain_infer *plain, const real *weights, size_t n, const real *x, size_t count,
                          const struct batchnorm_transform *const *transforms, real *features)
{
    const struct net *net = plain->net;
    const struct net_block *last = &net->block[net->config.blocks - 1];
    for (size_t t = 0; t < count; t++)
        layers_average(n, last->out_h * last->out_w, net->features, through(plain, net->config.blocks, weights, n, x, transforms[t]),
                       features + t * INFER_CHUNK * net->features);
}

#include "bnsweep/core/pass.h"

#include "bnsweep/core/fused.h"
#include "bnsweep/core/layers.h"
#include "bnsweep/core/plain.h"

#include <string.h>

static enum status create_blocks(struct pass *pass, struct room room, struct arena *arena)
{
    if (pass->net->engine->block) {
        pass->fused = arena_array(arena, 1, sizeof *pass->fused);
        return pass->fused ? fused_create(pass->fused, pass->net, pass->n, room, arena) : STATUS_NOMEM;
    }
    pass->plain = arena_array(arena, 1, sizeof *pass->plain);
    return pass->plain ? plain_create(pass->plain, pass->net, pass->n, arena) : STATUS_NOMEM;
}

enum status pass_room(const struct net *net, size_t n, size_t *size)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        enum status status = conv_check(&net->block[i].conv, n);
        if (status)
            return status_context(status, "block %zu", i + 1);
    }
    *size = 0; /* the plain way has its own memory */
    return net->engine->block ? fused_room(net, n, size) : STATUS_OK;
}

enum status pass_create(struct pass *pass, const struct net *net, size_t n, struct room room, struct arena *arena)
{
    const struct net_config *config = &net->config;
    size_t need = 0;
    *pass = (struct pass){.net = net, .n = n};
    enum status status = pass_room(net, n, &need);
    if (status)
        return status;
    pass->x = arena_array(arena, n * config->image_h * config->image_w * config->image_channels, sizeof(real));
    pass->labels = arena_array(arena, n, sizeof(int32_t));
    pass->features = arena_array(arena, n * net->features, sizeof(real));
    pass->dfeatures = arena_array(arena, n * net->features, sizeof(real));
    pass->logits = arena_array(arena, n, config->classes * sizeof(real));
    pass->dlogits = arena_array(arena, n, config->classes * sizeof(real));
    if (!pass->x || !pass->labels || !pass->features || !pass->dfeatures || !pass->logits || !pass->dlogits)
        return STATUS_NOMEM;
    if (!room.at)
        room = (struct room){arena_array(arena, need, sizeof(real)), need};
    if (!room.at)
        return STATUS_NOMEM;
    if (room.size < need)
        return status_fail(STATUS_INTERNAL, "a training pass was given a room of %zu elements and needs %zu", room.size, need);
    status = create_blocks(pass, room, arena);
    if (!status)
        status = running_batch_create(&pass->batch, net, arena);
    return status ? status : running_transform_create(&pass->transform, net, arena);
}

enum status pass_forward(struct pass *pass, const struct running_mode *mode, const real *weights, double *loss)
{
    const struct net *net = pass->net;
    enum status status = pass->fused ? fused_forward(pass->fused, mode, weights, pass->x, &pass->batch, &pass->transform, pass->features)
                                     : plain_forward(pass->plain, mode, weights, pass->x, &pass->batch, &pass->transform, pass->features);
    if (status)
        return status;
    layers_linear(pass->n, net->features, net->config.classes, pass->features, weights + net->params[net->linear_weight].offset,
                  weights + net->params[net->linear_bias].offset, pass->logits);
    *loss = layers_cross_entropy(pass->n, net->config.classes, pass->logits, pass->labels, pass->dlogits) / (double)pass->n;
    return STATUS_OK;
}

void pass_backward(struct pass *pass, const real *weights, real *gradient)
{
    const struct net *net = pass->net;
    memset(gradient, 0, net->size * sizeof(real));
    layers_linear_backward(pass->n, net->features, net->config.classes, pass->features,
                           weights + net->params[net->linear_weight].offset, pass->dlogits,
                           gradient + net->params[net->linear_weight].offset, gradient + net->params[net->linear_bias].offset,
                           pass->dfeatures);
    if (pass->fused)
        fused_backward(pass->fused, weights, pass->x, pass->dfeatures, gradient);
    else
        plain_backward(pass->plain, weights, pass->x, pass->dfeatures, gradient);
}

#include "bnsweep/core/packed.h"

#include <string.h>

enum { CHANNELS_STEP = 16 };

size_t packed_channels(size_t channels)
{
    return (channels + CHANNELS_STEP - 1) / CHANNELS_STEP * CHANNELS_STEP;
}

static struct conv_shape padded_shape(const struct net *net, size_t index)
{
    const struct conv_shape *own = &net->block[index].conv;
    return (struct conv_shape){own->h, own->w, index ? packed_channels(own->cin) : own->cin, packed_channels(own->cout)};
}

const char *packed_method(const struct net *net, size_t index)
{
    struct conv_shape conv = padded_shape(net, index);
    return !net->engine->block ? "im2row" : winograd_fits(&conv) ? "winograd" : "direct";
}

size_t packed_input_size(const struct packed_block *block)
{
    return (block->conv.h + 2) * (block->conv.w + 2) * block->conv.cin;
}

struct block_size packed_output(const struct packed_block *block)
{
    return (struct block_size){block->conv.h, block->conv.w, block->conv.cout};
}

static size_t frequencies(const struct packed_block *block)
{
    return block->winograd ? WINOGRAD_FREQUENCIES : CONV_TAPS;
}

static enum status create_block(struct packed *packed, size_t index, bool backward, struct arena *arena)
{
    const struct conv_shape *own = &packed->net->block[index].conv;
    struct packed_block *block = &packed->block[index];
    struct conv_shape conv = padded_shape(packed->net, index);
    size_t tiles = (conv.h / 2) * (conv.w / 2), plane = conv.cin * conv.cout;
    enum status status = conv_check(&conv, 1);
    if (status)
        return status;
    block->conv = conv;
    block->turned = (struct conv_shape){conv.h, conv.w, conv.cout, conv.cin};
    block->winograd = winograd_fits(&conv);
    block->at_once = block->winograd && tiles < WINOGRAD_GROUP ? WINOGRAD_GROUP / tiles : 1;
    bool padded = conv.cin != own->cin || conv.cout != own->cout;
    if (padded)
        block->wide = arena_array(arena, CONV_TAPS * plane, sizeof(real));
    if (block->winograd)
        block->transformed = arena_array(arena, WINOGRAD_FREQUENCIES * plane, sizeof(real));
    if (backward) {
        block->backward = arena_array(arena, WINOGRAD_FREQUENCIES * plane, sizeof(real));
        block->sums = arena_array(arena, WINOGRAD_FREQUENCIES * plane, sizeof(real));
        block->flat = arena_array(arena, CONV_TAPS * plane, sizeof(real));
    }
    return (padded && !block->wide) || (block->winograd && !block->transformed) ||
                   (backward && (!block->backward || !block->sums || !block->flat))
               ? STATUS_NOMEM
               : STATUS_OK;
}

enum status packed_create(struct packed *packed, const struct net *net, bool backward, struct arena *arena)
{
    size_t workspace = 1;
    *packed = (struct packed){.net = net};
    for (size_t i = 0; i < net->config.blocks; i++) {
        enum status status = create_block(packed, i, backward, arena);
        if (status)
            return status_context(status, "block %zu", i + 1);
        size_t need = packed->block[i].winograd ? winograd_workspace(&packed->block[i].conv) : 0;
        workspace = need > workspace ? need : workspace;
    }
    packed->workspace = arena_array(arena, workspace, sizeof(real));
    return packed->workspace ? STATUS_OK : STATUS_NOMEM;
}

void packed_set(struct packed *packed, const real *weights)
{
    const struct net *net = packed->net;
    for (size_t i = 0; i < net->config.blocks; i++) {
        struct packed_block *block = &packed->block[i];
        const struct conv_shape *own = &net->block[i].conv, *conv = &block->conv;
        const real *from = weights + net->params[net->block[i].weight].offset;
        for (size_t tap = 0; block->wide && tap < CONV_TAPS; tap++)
            for (size_t c = 0; c < own->cin; c++)
                memcpy(block->wide + (tap * conv->cin + c) * conv->cout, from + (tap * own->cin + c) * own->cout, own->cout * sizeof(real));
        block->forward = block->wide ? block->wide : from;
        if (block->winograd)
            net->engine->winograd->transform(conv->cin, conv->cout, block->forward, block->transformed);
    }
}

void packed_image(const struct packed_block *first, size_t n, const real *x, real *to)
{
    size_t row = first->conv.w * first->conv.cin, padded = (first->conv.w + 2) * first->conv.cin;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < first->conv.h; r++)
            memcpy(to + (i * (first->conv.h + 2) + r + 1) * padded + first->conv.cin, x + (i * first->conv.h + r) * row, row * sizeof(real));
}

void packed_convolve(struct packed *packed, size_t index, size_t n, const real *x, real *y)
{
    const struct engine *engine = packed->net->engine;
    struct packed_block *block = &packed->block[index];
    if (block->winograd)
        engine->winograd->forward(&block->conv, n, x, block->transformed, y, packed->workspace, &packed->ahead);
    else
        engine->direct->forward(&block->conv, n, x, block->forward, y, &packed->ahead);
    packed->ahead.count = 0;
}

/* turned[8 - tap][cout][cin] = w[tap][cin][cout]. */
static void turn(const struct conv_shape *conv, const real *w, real *turned)
{
    for (size_t tap = 0; tap < CONV_TAPS; tap++)
        for (size_t c = 0; c < conv->cin; c++)
            for (size_t o = 0; o < conv->cout; o++)
                turned[((CONV_TAPS - 1 - tap) * conv->cout + o) * conv->cin + c] = w[(tap * conv->cin + c) * conv->cout + o];
}

void packed_backward(struct packed *packed, size_t index)
{
    struct packed_block *block = &packed->block[index];
    const struct conv_shape *conv = &block->conv;
    memset(block->sums, 0, frequencies(block) * conv->cin * conv->cout * sizeof(real));
    if (index == 0)
        return;
    if (!block->winograd) {
        turn(conv, block->forward, block->backward);
        return;
    }
    turn(conv, block->forward, block->flat);
    packed->net->engine->winograd->transform(conv->cout, conv->cin, block->flat, block->backward);
}

void packed_add_gradient(struct packed *packed, size_t index, size_t n, const real *x, const real *dy)
{
    const struct engine *engine = packed->net->engine;
    struct packed_block *block = &packed->block[index];
    if (block->winograd)
        engine->winograd->weights(&block->conv, n, x, dy, block->sums, packed->workspace, &packed->ahead);
    else
        engine->direct->weights(&block->conv, n, x, dy, block->sums, &packed->ahead);
    packed->ahead.count = 0;
}

void packed_data_gradient(struct packed *packed, size_t index, size_t n, const real *dy, real *dx)
{
    const struct engine *engine = packed->net->engine;
    struct packed_block *block = &packed->block[index];
    if (block->winograd)
        engine->winograd->forward(&block->turned, n, dy, block->backward, dx, packed->workspace, &packed->ahead);
    else
        engine->direct->forward(&block->turned, n, dy, block->backward, dx, &packed->ahead);
    packed->ahead.count = 0;
}

void packed_take_gradient(struct packed *packed, size_t index, real *gradient)
{
    const struct conv_shape *own = &packed->net->block[index].conv;
    struct packed_block *block = &packed->block[index];
    const real *from = block->sums;
    if (block->winograd) {
        packed->net->engine->winograd->gradient(block->conv.cin, block->conv.cout, block->sums, block->flat);
        from = block->flat;
    }
    for (size_t tap = 0; tap < CONV_TAPS; tap++)
        for (size_t c = 0; c < own->cin; c++)
            memcpy(gradient + (tap * own->cin + c) * own->cout, from + (tap * block->conv.cin + c) * block->conv.cout,
                   own->cout * sizeof(real));
}

#include "bnsweep/core/fused.h"

#include "fused_internal.h"

#include "bnsweep/base/mem.h"

#include <stdint.h>
#include <string.h>

struct block_size fused_out_size(const struct net *net, size_t index, size_t channels)
{
    return (struct block_size){net->block[index].out_h, net->block[index].out_w, channels};
}

enum { APART = 17 * 16 }; /* elements between two buffers, or equal images in them would share their place in the cache */

/* Elements of one image: a block's z, and what its pool lets through. */
struct image_sizes {
    size_t z, out;
};

static struct image_sizes image_sizes(const struct net *net, size_t index)
{
    const struct net_block *shape = &net->block[index];
    size_t channels = packed_channels(shape->conv.cout);
    return (struct image_sizes){shape->conv.h * shape->conv.w * channels, shape->out_h * shape->out_w * channels};
}

static real *carve(struct room *room, size_t size)
{
    real *at = room->at;
    room->at += size + APART;
    room->size -= size + APART;
    return at;
}

enum status fused_room(const struct net *net, size_t n, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < net->config.blocks; i++) {
        struct image_sizes image = image_sizes(net, i);
        size_t buffers = image.z + (net->block[i].pool ? image.out : 0) + image.out;
        if (!mem_multiply(&buffers, n) || buffers > SIZE_MAX / sizeof(real) / NET_MAX_BLOCKS - 3 * APART)
            return status_fail(STATUS_SHAPE, "the activations of %zu images in block %zu are too large", n, i + 1);
        *size += buffers + 3 * APART;
    }
    return STATUS_OK;
}

static enum status create_block(struct fused *fused, size_t index, struct room *room, struct arena *arena)
{
    const struct net *net = fused->net;
    const struct packed_block *packed = &fused->packed.block[index];
    struct fused_block *block = &fused->block[index];
    struct image_sizes image = image_sizes(net, index);
    size_t images = net_is_grouped(net) ? fused->n : 1;
    block->z = carve(room, fused->n * image.z);
    block->pooled = net->block[index].pool ? carve(room, fused->n * image.out) : block->z;
    block->dout = carve(room, fused->n * image.out);
    block->in = arena_array(arena, packed->at_once * packed_input_size(packed), sizeof(real));
    if (!block->in)
        return STATUS_NOMEM;
    if (net_is_grouped(net)) {
        block->group_mean = arena_array(arena, fused->n * net_groups(net), sizeof(double));
        block->group_invstd = arena_array(arena, fused->n * net_groups(net), sizeof(double));
        if (!block->group_mean || !block->group_invstd)
            return STATUS_NOMEM;
    }
    enum status status = moments_create(&block->moments, packed->conv.cout, arena);
    return status ? status : affine_create(&block->affine, net->block[index].conv.cout, images, arena);
}

enum status fused_create(struct fused *fused, const struct net *net, size_t n, struct room room, struct arena *arena)
{
    *fused = (struct fused){.net = net, .n = n};
    enum status status = packed_create(&fused->packed, net, true, arena);
    size_t dz = 1;
    for (size_t i = 0; !status && i < net->config.blocks; i++) {
        const struct packed_block *block = &fused->packed.block[i];
        size_t size = block->at_once * (block->conv.h + 2) * (block->conv.w + 2) * block->conv.cout;
        dz = size > dz ? size : dz;
        status = conv_check(&block->conv, n);
        if (!status)
            status = create_block(fused, i, &room, arena);
        if (status)
            status = status_context(status, "block %zu", i + 1);
    }
    if (status)
        return status;
    fused->dz = arena_array(arena, dz, sizeof(real));
    fused->average = arena_array(arena, packed_channels(net->features), sizeof(real));
    return fused->dz && fused->average ? STATUS_OK : STATUS_NOMEM;
}

void fused_convolve(struct packed *packed, size_t index, const real *weights, size_t n, const real *x, real *z)
{
    const struct net_block *shape = &packed->net->block[index];
    const struct conv_shape *conv = &packed->block[index].conv;
    packed_convolve(packed, index, n, x, z);
    if (shape->bias < 0)
        return;
    const real *bias = weights + packed->net->params[shape->bias].offset;
    for (size_t p = 0; p < n * conv->h * conv->w; p++)
        for (size_t c = 0; c < shape->conv.cout; c++)
            z[p * conv->cout + c] += bias[c];
}

void fused_moments(const struct packed *packed, size_t index, size_t n, const real *z, struct moments *moments)
{
    struct block_size size = packed_output(&packed->block[index]);
    for (size_t i = 0; i < n; i++)
        moments_add_with(moments, packed->net->engine->block->deviations, size.h * size.w, z + i * size.h * size.w * size.channels);
}

void fused_group(const struct packed *packed, size_t index, const real *weights, const real *z, size_t image, struct moments *moments,
                 double *group_mean, double *group_invstd, struct affine *affine)
{
    const struct net *net = packed->net;
    const struct net_block *block = &net->block[index];
    struct affine_groups groups = {net_groups(net), block->conv.h * block->conv.w, net->config.eps, group_mean, group_invstd};
    moments_reset(moments);
    fused_moments(packed, index, 1, z, moments);
    affine_group(&groups, image, moments->mean, moments->deviations, weights + net->params[block->gamma].offset,
                 weights + net->params[block->beta].offset, affine);
}

void fused_expect(struct fused *fused, const real *array, size_t size, size_t next, size_t n)
{
    size_t left = fused->n - next;
    ahead_add(&fused->packed.ahead, array + next * size, (n < left ? n : left) * size);
}

/* Images first .. first + n of a block, up to what its pool lets through. */
static void forward_images(struct fused *fused, size_t index, const real *weights, size_t first, size_t n, const real *x)
{
    const struct net *net = fused->net;
    const struct block *kernels = net->engine->block;
    struct packed_block *packed = &fused->packed.block[index];
    struct fused_block *block = &fused->block[index];
    struct block_size size = packed_output(packed), out = fused_out_size(net, index, size.channels);
    size_t next = first + n, out_size = out.h * out.w * out.channels;
    real *z = block->z + first * size.h * size.w * size.channels;
    if (packed->winograd) /* the direct way does so itself */
        fused_expect(fused, block->z, size.h * size.w * size.channels, next, n);
    if (net->block[index].pool)
        fused_expect(fused, block->pooled, out_size, next, n);
    if (index)
        fused_expect(fused, fused->block[index - 1].pooled, packed->conv.h * packed->conv.w * packed->conv.cin, next, n);
    fused_convolve(&fused->packed, index, weights, n, x, z);
    if (net_has_running(net))
        fused_moments(&fused->packed, index, n, z, &block->moments);
    for (size_t i = 0; i < n; i++, z += size.h * size.w * size.channels) {
        size_t image = first + i;
        if (net_is_grouped(net))
            fused_group(&fused->packed, index, weights, z, image, &block->moments, block->group_mean + image * net_groups(net),
                        block->group_invstd + image * net_groups(net), &block->affine);
        if (net->block[index].pool)
            kernels->pool(&size, z, block->affine.sign, block->pooled + image * out_size);
    }
}

const real *fused_input(struct fused *fused, size_t index, size_t first, size_t n, const real *x)
{
    const struct packed_block *packed = &fused->packed.block[index];
    struct block_size size = {packed->conv.h, packed->conv.w, packed->conv.cin};
    size_t image_size = size.h * size.w * size.channels;
    real *in = fused->block[index].in;
    if (index == 0) {
        packed_image(packed, n, x + first * image_size, in);
        return in;
    }
    for (size_t i = 0; i < n; i++) {
        struct block_affine affine = affine_of(&fused->block[index - 1].affine, first + i);
        fused->net->engine->block->activate(&size, fused->block[index - 1].pooled + (first + i) * image_size, &affine,
                                            in + i * packed_input_size(packed));
    }
    return in;
}

/* The transform and the vectors of a batch norm, once all images' statistics are in. */
static enum status finish_norm(struct fused *fused, size_t index, const struct running_mode *mode, const real *weights,
                               struct running_batch *batch, struct batchnorm_transform *transform)
{
    const struct net *net = fused->net;
    const struct net_block *shape = &net->block[index];
    struct fused_block *block = &fused->block[index];
    size_t values = fused->n * shape->conv.h * shape->conv.w;
    if (!net_has_running(net))
        return STATUS_OK;
    if (!mode->held[index]) {
        enum status status = batchnorm_check(&(struct batchnorm_shape){fused->n, shape->conv.cout, values / fused->n});
        if (status)
            return status_context(status, "norm%zu", index + 1);
        for (size_t c = 0; c < shape->conv.cout; c++) {
            batch->mean[shape->first_channel + c] = block->moments.mean[c];
            batch->var[shape->first_channel + c] = block->moments.deviations[c] / block->moments.count;
        }
    }
    block->transform = running_training(net, index, mode, batch, transform);
    affine_batch(&block->transform, weights + net->params[shape->gamma].offset, weights + net->params[shape->beta].offset, &block->affine);
    return STATUS_OK;
}

enum status fused_forward(struct fused *fused, const struct running_mode *mode, const real *weights, const real *x,
                          struct running_batch *batch, struct batchnorm_transform *transform, real *features)
{
    const struct net *net = fused->net;
    size_t last = net->config.blocks - 1;
    packed_set(&fused->packed, weights);
    for (size_t i = 0; i <= last; i++) {
        struct fused_block *block = &fused->block[i];
        moments_reset(&block->moments);
        if (net->config.norm == NORM_NONE)
            affine_identity(&block->affine);
        else
            affine_signs(weights + net->params[net->block[i].gamma].offset, &block->affine);
        for (size_t first = 0, n; first < fused->n; first += n) {
            n = fused->n - first < fused->packed.block[i].at_once ? fused->n - first : fused->packed.block[i].at_once;
            forward_images(fused, i, weights, first, n, fused_input(fused, i, first, n, x));
        }
        enum status status = finish_norm(fused, i, mode, weights, batch, transform);
        if (status)
            return status;
    }
    struct fused_block *block = &fused->block[last];
    struct block_size size = packed_output(&fused->packed.block[last]);
    for (size_t image = 0; image < fused->n; image++) {
        struct block_affine affine = affine_of(&block->affine, image);
        net->engine->block->average(&size, block->z + image * size.h * size.w * size.channels, &affine, fused->average);
        memcpy(features + image * net->features, fused->average, net->features * sizeof(real));
    }
    return STATUS_OK;
}

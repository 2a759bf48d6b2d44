#include "bnsweep/core/fused_infer.h"

#include "bnsweep/core/fused.h"

#include <string.h>

static size_t at_once(const struct packed_block *block)
{
    return block->at_once < INFER_CHUNK ? block->at_once : INFER_CHUNK;
}

static enum status create_block(struct fused_infer *fused, size_t index, size_t *z, struct arena *arena)
{
    const struct net_block *shape = &fused->net->block[index];
    const struct packed_block *packed = &fused->packed.block[index];
    struct fused_infer_block *block = &fused->block[index];
    size_t size = at_once(packed) * packed->conv.h * packed->conv.w * packed->conv.cout;
    *z = size > *z ? size : *z;
    block->in = arena_array(arena, at_once(packed) * packed_input_size(packed), sizeof(real));
    block->pooled = block->chunk = arena_array(arena, shape->out_h * shape->out_w * packed->conv.cout, INFER_CHUNK * sizeof(real));
    if (!block->in || !block->chunk)
        return STATUS_NOMEM;
    enum status status = moments_create(&block->moments, packed->conv.cout, arena);
    return status ? status : affine_create(&block->affine, shape->conv.cout, net_is_grouped(fused->net) ? INFER_CHUNK : 1, arena);
}

enum status fused_infer_create(struct fused_infer *fused, const struct net *net, struct room room, struct arena *arena)
{
    size_t z = 1;
    *fused = (struct fused_infer){.net = net, .room = room};
    enum status status = packed_create(&fused->packed, net, false, arena);
    for (size_t i = 0; !status && i < net->config.blocks; i++)
        status = create_block(fused, i, &z, arena);
    if (status)
        return status;
    fused->z = arena_array(arena, z, sizeof(real));
    fused->average = arena_array(arena, packed_channels(net->features), sizeof(real));
    fused->group_mean = arena_array(arena, net_groups(net), sizeof(double));
    fused->group_invstd = arena_array(arena, net_groups(net), sizeof(double));
    return fused->z && fused->average && fused->group_mean && fused->group_invstd ? STATUS_OK : STATUS_NOMEM;
}

void fused_infer_set(struct fused_infer *fused, const real *weights)
{
    const struct net *net = fused->net;
    packed_set(&fused->packed, weights);
    fused->kept_blocks = fused->kept_images = 0;
    for (size_t i = 0; i < net->config.blocks; i++)
        if (net->config.norm == NORM_NONE)
            affine_identity(&fused->block[i].affine);
        else
            affine_signs(weights + net->params[net->block[i].gamma].offset, &fused->block[i].affine);
}

/* A block's input for images first .. first + n of the chunk, from x or from what the block before it lets through. */
static const real *input(struct fused_infer *fused, size_t index, size_t first, size_t n, const real *x)
{
    const struct packed_block *packed = &fused->packed.block[index];
    struct fused_infer_block *block = &fused->block[index];
    struct block_size size = {packed->conv.h, packed->conv.w, packed->conv.cin};
    size_t image = size.h * size.w * size.channels;
    if (index == 0) {
        packed_image(packed, n, x + first * image, block->in);
        return block->in;
    }
    for (size_t i = 0; i < n; i++) {
        struct block_affine affine = affine_of(&fused->block[index - 1].affine, first + i);
        fused->net->engine->block->activate(&size, fused->block[index - 1].pooled + (first + i) * image, &affine,
                                            block->in + i * packed_input_size(packed));
    }
    return block->in;
}

/* Take a chunk through one block, up to what its pool lets through. */
static void run_block(struct fused_infer *fused, size_t index, const real *weights, size_t n, const real *x)
{
    const struct net_block *shape = &fused->net->block[index];
    const struct packed_block *packed = &fused->packed.block[index];
    struct fused_infer_block *block = &fused->block[index];
    struct block_size size = packed_output(packed);
    size_t image = size.h * size.w * size.channels, out = shape->out_h * shape->out_w * size.channels;
    for (size_t first = 0, here; first < n; first += here) {
        here = n - first < at_once(packed) ? n - first : at_once(packed);
        real *z = shape->pool ? fused->z : block->pooled + first * out;
        fused_convolve(&fused->packed, index, weights, here, input(fused, index, first, here, x), z);
        for (size_t i = 0; i < here; i++) {
            if (net_is_grouped(fused->net))
                fused_group(&fused->packed, index, weights, z + i * image, first + i, &block->moments, fused->group_mean,
                            fused->group_invstd, &block->affine);
            if (shape->pool)
                fused->net->engine->block->pool(&size, z + i * image, block->affine.sign, block->pooled + (first + i) * out);
        }
    }
}

/* A batch norm's vectors from one transform of the whole network. */
static void set_affine(struct fused_infer *fused, size_t index, const real *weights, const struct batchnorm_transform *transform)
{
    const struct net *net = fused->net;
    const struct net_block *shape = &net->block[index];
    if (!net_has_running(net))
        return;
    struct batchnorm_transform part = running_transform_block(net, index, transform);
    affine_batch(&part, weights + net->params[shape->gamma].offset, weights + net->params[shape->beta].offset, &fused->block[index].affine);
}

/* Elements of one image of what a block lets through. */
static size_t out_size(const struct fused_infer *fused, size_t index)
{
    const struct net_block *shape = &fused->net->block[index];
    return shape->out_h * shape->out_w * fused->packed.block[index].conv.cout;
}

/* Where a block's output for images `first` on of the set is, or goes. */
static void place(struct fused_infer *fused, size_t index, size_t first, bool kept)
{
    struct fused_infer_block *block = &fused->block[index];
    block->pooled = kept ? fused->room.at + first * out_size(fused, index) : block->chunk;
}

/* Take images first .. first + n of the set through `count` blocks, from where they are kept on. */
static void advance(struct fused_infer *fused, const real *weights, size_t count, size_t first, size_t n, const real *x,
                    const struct batchnorm_transform *transform)
{
    size_t from = first + n <= fused->kept_images ? fused->kept_blocks : 0;
    for (size_t i = 0; i < count; i++) {
        set_affine(fused, i, weights, transform);
        place(fused, i, first, i + 1 == from);
        if (i >= from)
            run_block(fused, i, weights, n, x);
    }
}

/* A smaller output may take the place of a larger one while that is read: no image's begins behind that of the one read. */
void fused_infer_begin(struct fused_infer *fused, size_t target, size_t n)
{
    size_t size = out_size(fused, target), fit = fused->room.size / size / INFER_CHUNK * INFER_CHUNK;
    bool in_place = !fused->kept_images || size <= out_size(fused, fused->kept_blocks - 1);
    fused->keeping = !in_place || net_is_grouped(fused->net) ? 0 : fused->room.size / size >= n ? n : fit;
}

void fused_infer_end(struct fused_infer *fused, size_t target)
{
    if (!fused->keeping)
        return;
    fused->kept_blocks = target + 1;
    fused->kept_images = fused->keeping;
}

void fused_infer_moments(struct fused_infer *fused, const real *weights, size_t target, size_t first, size_t n, const real *x,
                         const struct batchnorm_transform *transform)
{
    const struct packed_block *packed = &fused->packed.block[target];
    struct fused_infer_block *block = &fused->block[target];
    struct block_size size = packed_output(packed);
    size_t image = size.h * size.w * size.channels;
    bool keep = first + n <= fused->keeping, pool = fused->net->block[target].pool;
    advance(fused, weights, target, first, n, x, transform);
    place(fused, target, first, keep);
    for (size_t at = 0, here; at < n; at += here) {
        here = n - at < at_once(packed) ? n - at : at_once(packed);
        real *z = keep && !pool ? block->pooled + at * image : fused->z;
        fused_convolve(&fused->packed, target, weights, here, input(fused, target, at, here, x), z);
        fused_moments(&fused->packed, target, here, z, &block->moments);
        for (size_t i = 0; keep && pool && i < here; i++)
            fused->net->engine->block->pool(&size, z + i * image, block->affine.sign, block->pooled + (at + i) * out_size(fused, target));
    }
}

/* features[n] of the chunk under way. */
static void average(struct fused_infer *fused, size_t n, real *features)
{
    const struct net *net = fused->net;
    size_t last = net->config.blocks - 1;
    struct block_size size = packed_output(&fused->packed.block[last]);
    for (size_t i = 0; i < n; i++) {
        struct block_affine affine = affine_of(&fused->block[last].affine, i);
        net->engine->block->average(&size, fused->block[last].pooled + i * size.h * size.w * size.channels, &affine, fused->average);
        memcpy(features + i * net->features, fused->average, net->features * sizeof(real));
    }
}

void fused_infer_again(struct fused_infer *fused, const real *weights, size_t first, size_t n, const real *x,
                       const struct batchnorm_transform *transform, real *features)
{
    advance(fused, weights, fused->net->config.blocks, first, n, x, transform);
    average(fused, n, features);
}

void fused_infer_features(struct fused_infer *fused, const real *weights, size_t n, const real *x, size_t count,
                          const struct batchnorm_transform *const *transforms, real *features)
{
    const struct net *net = fused->net;
    for (size_t i = 0; i < net->config.blocks; i++)
        place(fused, i, 0, false);
    run_block(fused, 0, weights, n, x);
    for (size_t t = 0; t < count; t++) {
        set_affine(fused, 0, weights, transforms[t]);
        for (size_t i = 1; i < net->config.blocks; i++) {
            run_block(fused, i, weights, n, x);
            set_affine(fused, i, weights, transforms[t]);
        }
        average(fused, n, features + t * INFER_CHUNK * net->features);
    }
}

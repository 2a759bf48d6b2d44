/* The backward half of the training pass. A block's gradient is spread from its output's over z, a few images at a time; from that come
 * the gradients of the weights and of the block before's output, whose sums for the norm there are taken while it is in the cache. */
#include "bnsweep/core/fused.h"

#include "fused_internal.h"

#include "bnsweep/core/layers.h"

#include <string.h>

static void begin_sums(struct affine *affine)
{
    memset(affine->sum, 0, affine->wide * sizeof(double));
    memset(affine->sum_z, 0, affine->wide * sizeof(double));
}

/* Take one image's dout, just made, into the sums that the gradients of a norm need; of a group norm the image's is all there is. */
static void add_sums(struct fused *fused, size_t index, const real *weights, size_t image, real *gradient)
{
    const struct net *net = fused->net;
    const struct net_block *shape = &net->block[index];
    struct fused_block *block = &fused->block[index];
    struct affine *affine = &block->affine;
    struct block_size out = fused_out_size(net, index, affine->wide);
    size_t at = image * out.h * out.w * out.channels, group = image * net_groups(net);
    struct block_affine vectors = affine_of(affine, image);
    if (net->config.norm == NORM_NONE)
        return;
    if (net_is_grouped(net))
        begin_sums(affine);
    net->engine->block->gradient_sums(&out, block->pooled + at, block->dout + at, &vectors, affine->sum, affine->sum_z);
    if (!net_is_grouped(net))
        return;
    struct affine_groups groups = {net_groups(net), shape->conv.h * shape->conv.w, net->config.eps, block->group_mean + group,
                                   block->group_invstd + group};
    affine_group_backward(&groups, image, weights + net->params[shape->gamma].offset, affine,
                          gradient + net->params[shape->gamma].offset, gradient + net->params[shape->beta].offset);
}

/* The sums are in: the offsets and slopes of a batch norm's gradient, and the gradients of gamma and beta. */
static void finish_sums(struct fused *fused, size_t index, const real *weights, real *gradient)
{
    const struct net *net = fused->net;
    const struct net_block *shape = &net->block[index];
    struct fused_block *block = &fused->block[index];
    double values = (double)(fused->n * shape->conv.h * shape->conv.w);
    if (net_has_running(net))
        affine_batch_backward(&block->transform, weights + net->params[shape->gamma].offset, values, &block->affine,
                              gradient + net->params[shape->gamma].offset, gradient + net->params[shape->beta].offset);
}

/* fused->dz = the gradient of z for images first .. first + n. */
static void backward_images(struct fused *fused, size_t index, size_t first, size_t n)
{
    const struct block *kernels = fused->net->engine->block;
    struct fused_block *block = &fused->block[index];
    struct block_size size = packed_output(&fused->packed.block[index]), out = fused_out_size(fused->net, index, size.channels);
    for (size_t i = 0; i < n; i++) {
        size_t image = first + i;
        struct block_affine affine = affine_of(&block->affine, image);
        struct block_slopes slopes = affine_slopes_of(&block->affine, image);
        (fused->net->block[index].pool ? kernels->spread_pool : kernels->spread)(
            &size, block->z + image * size.h * size.w * size.channels, block->dout + image * out.h * out.w * out.channels, &affine,
            &slopes, fused->dz + i * (size.h + 2) * (size.w + 2) * size.channels);
    }
}

/* db[channels of the net] += the sums of fused->dz; its borders are 0. */
static void backward_bias(struct fused *fused, size_t index, size_t n, real *db)
{
    struct block_size size = packed_output(&fused->packed.block[index]);
    for (size_t c = 0; c < fused->net->block[index].conv.cout; c++) {
        double sum = 0;
        for (size_t p = 0; p < n * (size.h + 2) * (size.w + 2); p++)
            sum += (double)fused->dz[p * size.channels + c];
        db[c] += (real)sum;
    }
}

/* dout of the block before, for images first .. first + n. */
static void backward_data(struct fused *fused, size_t index, const real *weights, size_t first, size_t n, real *gradient)
{
    const struct conv_shape *conv = &fused->packed.block[index].conv;
    struct fused_block *before = &fused->block[index - 1];
    size_t size = conv->h * conv->w * conv->cin;
    if (first == 0)
        begin_sums(&before->affine);
    fused_expect(fused, before->dout, size, first + n, n);
    fused_expect(fused, before->pooled, size, first + n, n);
    packed_data_gradient(&fused->packed, index, n, fused->dz, before->dout + first * size);
    for (size_t image = first; image < first + n; image++)
        add_sums(fused, index - 1, weights, image, gradient);
}

static void backward_block(struct fused *fused, size_t index, const real *weights, const real *x, real *gradient)
{
    const struct net *net = fused->net;
    const struct net_block *shape = &net->block[index];
    struct packed_block *packed = &fused->packed.block[index];
    size_t dz = packed->at_once * (packed->conv.h + 2) * (packed->conv.w + 2) * packed->conv.cout;
    struct block_size size = packed_output(packed), out = fused_out_size(net, index, size.channels);
    finish_sums(fused, index, weights, gradient);
    packed_backward(&fused->packed, index);
    memset(fused->dz, 0, dz * sizeof(real)); /* the borders, which lie elsewhere in each block */
    for (size_t first = 0, n; first < fused->n; first += n) {
        n = fused->n - first < packed->at_once ? fused->n - first : packed->at_once;
        backward_images(fused, index, first, n);
        if (shape->bias >= 0)
            backward_bias(fused, index, n, gradient + net->params[shape->bias].offset);
        fused_expect(fused, fused->block[index].dout, out.h * out.w * out.channels, first + n, n);
        fused_expect(fused, fused->block[index].z, size.h * size.w * size.channels, first + n, n);
        packed_add_gradient(&fused->packed, index, n, fused_input(fused, index, first, n, x), fused->dz);
        if (index)
            backward_data(fused, index, weights, first, n, gradient);
    }
    packed_take_gradient(&fused->packed, index, gradient + net->params[shape->weight].offset);
}

void fused_backward(struct fused *fused, const real *weights, const real *x, const real *dfeatures, real *gradient)
{
    const struct net *net = fused->net;
    size_t last = net->config.blocks - 1, wide = fused->block[last].affine.wide;
    size_t pixels = net->block[last].out_h * net->block[last].out_w;
    begin_sums(&fused->block[last].affine);
    for (size_t image = 0; image < fused->n; image++) {
        memcpy(fused->average, dfeatures + image * net->features, net->features * sizeof(real));
        layers_average_backward(1, pixels, wide, fused->average, fused->block[last].dout + image * pixels * wide);
        add_sums(fused, last, weights, image, gradient);
    }
    for (size_t i = net->config.blocks; i-- > 0;)
        backward_block(fused, i, weights, x, gradient);
}

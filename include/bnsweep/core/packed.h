/* A network's convolutions as an engine's kernels want them: channels padded to multiples of 16, weights transformed, a border of zeros
 * around each image; and the kernels called. */
#ifndef BNSWEEP_CORE_PACKED_H
#define BNSWEEP_CORE_PACKED_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/engine.h"
#include "bnsweep/core/net.h"

/* One convolution. Padded sizes: inputs x[n][h+2][w+2][conv.cin], outputs [n][h][w][conv.cout]; the image's own channels are not
 * padded. Arrays are owned by the arena; the last three only where there is a backward pass. */
struct packed_block {
    struct conv_shape conv, turned; /* turned: the convolution that gives the gradient of the data */
    bool winograd;
    size_t at_once; /* images that keep the kernels busy */
    real *wide;     /* [9][cin][cout], the weights with padded channels; NULL where nothing is padded */
    const real *forward;
    real *transformed, *backward, *sums, *flat;
};

struct packed {
    const struct net *net; /* not owned */
    struct packed_block block[NET_MAX_BLOCKS];
    real *workspace;
    struct ahead ahead; /* fetched by the next convolution or gradient, and then forgotten */
};

/* Return the channels padded to a multiple of 16. */
size_t packed_channels(size_t channels);

/* Return how the net's engine computes a block's convolution: "winograd", "direct" or "im2row". */
const char *packed_method(const struct net *net, size_t index);

/* Return the elements of one image of a block's input, borders included. */
size_t packed_input_size(const struct packed_block *block);

/* Return the size of what a block's convolution gives, channels padded. */
struct block_size packed_output(const struct packed_block *block);

/* Make it; net->engine has kernels. STATUS_NOMEM. */
enum status packed_create(struct packed *packed, const struct net *net, bool backward, struct arena *arena);

/* Take over weights[net->size] for forward passes; they must stay until the next call. */
void packed_set(struct packed *packed, const real *weights);

/* The interior of to[n][h+2][w+2][c] = x[n][h][w][c], the first block's input. */
void packed_image(const struct packed_block *first, size_t n, const real *x, real *to);

/* y[n][h][w][cout] = the block's convolution of x. */
void packed_convolve(struct packed *packed, size_t index, size_t n, const real *x, real *y);

/* Begin a block's backward pass: weights as given to packed_set, sums of the gradient 0. */
void packed_backward(struct packed *packed, size_t index);
/* Add to the gradient of the weights what x and dy[n][h+2][w+2][cout] give. */
void packed_add_gradient(struct packed *packed, size_t index, size_t n, const real *x, const real *dy);
/* dx[n][h][w][cin] = the gradient of the input. */
void packed_data_gradient(struct packed *packed, size_t index, size_t n, const real *dy, real *dx);
/* gradient[9][cin][cout] of the net's own channels = the sums. */
void packed_take_gradient(struct packed *packed, size_t index, real *gradient);

#endif

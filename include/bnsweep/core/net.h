/* The network's plan: blocks of convolution, norm layer, ReLU and 2x2 max pool (none after the last), then global average
 * pool and a linear classifier; and where each parameter tensor stands in one flat vector. Holds no numbers, only shapes. */
#ifndef BNSWEEP_CORE_NET_H
#define BNSWEEP_CORE_NET_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/batchnorm.h"
#include "bnsweep/core/conv.h"
#include "bnsweep/core/engine.h"
#include "bnsweep/core/kinds.h"

#include <stdbool.h>
#include <stddef.h>

enum { NET_MAX_BLOCKS = 16, NET_MAX_PARAMS = 4 * NET_MAX_BLOCKS + 2, NET_NAME_SIZE = 24 };

struct net_config {
    size_t blocks, channels[NET_MAX_BLOCKS]; /* output channels of each convolution */
    size_t image_channels, image_h, image_w, classes;
    enum norm_kind norm;
    size_t groups; /* of group norm */
    double eps;
    bool conv_bias;
    struct batchnorm_renorm renorm;
};

/* What a parameter tensor is; the order of the kinds is the order inside a block. */
enum net_param_kind { NET_CONV_WEIGHT, NET_CONV_BIAS, NET_NORM_WEIGHT, NET_NORM_BIAS, NET_LINEAR_WEIGHT, NET_LINEAR_BIAS };

/* One parameter tensor, stored [length][channels] at `offset` of the flat vector: each output channel's weights are a column.
 * Vectors have length 1. `name` is PyTorch's: conv1.weight, norm1.weight, ..., linear.bias. */
struct net_param {
    char name[NET_NAME_SIZE];
    enum net_param_kind kind;
    size_t block; /* from 0; config.blocks for the classifier */
    size_t offset, length, channels;
};

struct net_block {
    struct conv_shape conv;
    size_t out_h, out_w;  /* after the pool, where there is one */
    bool pool;
    size_t first_channel; /* of this block among all convolutions' output channels */
    int weight, bias, gamma, beta; /* indices into params; -1 where there is none */
};

struct net {
    struct net_config config;
    const struct engine *engine;
    struct net_block block[NET_MAX_BLOCKS];
    struct net_param params[NET_MAX_PARAMS];
    int param_count, linear_weight, linear_bias;
    size_t size;     /* length of the flat parameter vector */
    size_t channels; /* of all convolutions together */
    size_t features; /* into the classifier */
};

/* Lay out the network. STATUS_SHAPE with what does not fit: sizes of 0 or too large, an image that pools away to nothing,
 * groups that do not divide the channels. */
enum status net_plan(const struct net_config *config, const struct engine *engine, struct net *out);

/* Return whether the norm layers keep running statistics (batch, batchrenorm). */
bool net_has_running(const struct net *net);

/* Return whether each image is normalised by its own statistics (group, layer), and in how many groups of channels (layer: 1). */
bool net_is_grouped(const struct net *net);
size_t net_groups(const struct net *net);

/* Return the index of the tensor of this name, or -1. */
int net_find_param(const struct net *net, const char *name);

/* Return how many multiply-adds a forward pass of one image takes. */
double net_multiply_adds(const struct net *net);

#endif

/* A small network over random data for tests: its weights, one training pass and its gradient, without a trajectory. */
#ifndef BNSWEEP_TESTS_SMALL_NET_H
#define BNSWEEP_TESTS_SMALL_NET_H

#include "numbers.h"

#include "bnsweep/core/engine.h"
#include "bnsweep/core/init.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/pass.h"
#include "bnsweep/core/running.h"

struct small_net {
    struct arena arena;
    struct net net;
    struct pass pass;
    struct running running;
    struct running_mode mode;
    bool held[NET_MAX_BLOCKS];
    real *weights, *gradient;
};

/* Two blocks of 5 and 6 channels over 7x6 images of 2 channels, 3 classes, batch norm. */
static inline struct net_config small_net_config(void)
{
    return (struct net_config){.blocks = 2, .channels = {5, 6, 4}, .image_channels = 2, .image_h = 7, .image_w = 6, .classes = 3,
                               .norm = NORM_BATCH, .groups = 1, .eps = 1e-5,
                               .renorm = {.rmax = 3, .dmax = 5, .warmup = 10, .rmax_step = 20, .dmax_step = 30}};
}

/* Make the network and fill images, labels, weights (biases and norm weights too) and running statistics with random numbers. */
static inline void small_net_create_with(struct small_net *small, const struct net_config *config, const struct engine *engine, size_t n)
{
    *small = (struct small_net){0};
    assert_ok(net_plan(config, engine, &small->net));
    assert_ok(pass_create(&small->pass, &small->net, n, (struct room){0}, &small->arena));
    assert_ok(running_create(&small->running, &small->net, 0.1, &small->arena));
    small->mode = (struct running_mode){.running = &small->running, .held = small->held};
    small->weights = arena_array(&small->arena, small->net.size, sizeof(real));
    small->gradient = arena_array(&small->arena, small->net.size, sizeof(real));
    assert_true(small->weights && small->gradient);
    init_default(&small->net, 1, small->weights);
    uint64_t seed = 77;
    for (int i = 0; i < small->net.param_count; i++) {
        const struct net_param *param = &small->net.params[i];
        for (size_t j = 0; param->length == 1 && j < param->channels; j++)
            small->weights[param->offset + j] = (real)(0.2 * numbers_next(&seed) + (param->kind == NET_NORM_WEIGHT));
    }
    numbers_fill(78, n * config->image_h * config->image_w * config->image_channels, small->pass.x);
    for (size_t i = 0; i < n; i++)
        small->pass.labels[i] = (int32_t)(i % config->classes);
    for (size_t c = 0; c < small->net.channels; c++) {
        small->running.mean[c] = (real)(0.3 * numbers_next(&seed));
        small->running.var[c] = (real)(0.5 + 0.2 * numbers_next(&seed));
    }
}

/* The same with the engine that BNSWEEP_ISA or the processor chooses. */
static inline void small_net_create(struct small_net *small, const struct net_config *config, size_t n)
{
    const struct engine *engine;
    assert_ok(engine_choose(&engine));
    small_net_create_with(small, config, engine, n);
}

/* Return the mean loss. */
static inline double small_net_loss(struct small_net *small)
{
    double loss = NAN;
    assert_ok(pass_forward(&small->pass, &small->mode, small->weights, &loss));
    return loss;
}

/* Fill small->gradient. */
static inline void small_net_gradient(struct small_net *small)
{
    small_net_loss(small);
    pass_backward(&small->pass, small->weights, small->gradient);
}

/* Multiply the weights of one convolution output channel (and nothing else) by a factor. */
static inline void small_net_scale(struct small_net *small, size_t block, size_t channel, double factor)
{
    const struct net_param *param = &small->net.params[small->net.block[block].weight];
    for (size_t i = 0; i < param->length; i++)
        small->weights[param->offset + i * param->channels + channel] *= (real)factor;
}

static inline void small_net_free(struct small_net *small)
{
    arena_free(&small->arena);
}

#endif

/* The network's plan: sizes block by block, parameter tensors in one vector, and what cannot be laid out. */
#include "testing.h"

#include "bnsweep/core/net.h"

static struct net_config experiment(void)
{
    return (struct net_config){.blocks = 3, .channels = {32, 64, 64}, .image_channels = 3, .image_h = 32, .image_w = 32,
                               .classes = 10, .norm = NORM_BATCH, .groups = 8, .eps = 1e-5};
}

static void the_experiments_network(void **state)
{
    (void)state;
    struct net_config config = experiment();
    struct net net;
    assert_ok(net_plan(&config, &engine_reference, &net));
    assert_int_equal(net.channels, 160);
    assert_int_equal(net.features, 64);
    assert_int_equal(net.size, 27 * 32 + 288 * 64 + 576 * 64 + 2 * 160 + 650);
    assert_int_equal(net.param_count, 11);
    assert_true(net.block[0].pool && net.block[1].pool && !net.block[2].pool);
    assert_int_equal(net.block[2].conv.h, 8);
    assert_int_equal(net.block[2].first_channel, 96);
    assert_true(net_multiply_adds(&net) == 1024.0 * 27 * 32 + 256.0 * 288 * 64 + 64.0 * 576 * 64 + 640);
    assert_true(net_has_running(&net));
}

/* For every norm, with and without biases: the tensors tile the vector, are found by name, and belong to their block. */
static void tensors_tile_the_vector(void **state)
{
    (void)state;
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++)
        for (int bias = 0; bias <= 1; bias++) {
            struct net_config config = experiment();
            struct net net;
            size_t at = 0;
            config.norm = (enum norm_kind)norm;
            config.conv_bias = bias;
            assert_ok(net_plan(&config, &engine_reference, &net));
            assert_int_equal(net.param_count, 3 * (1 + bias + (norm != NORM_NONE ? 2 : 0)) + 2);
            for (int i = 0; i < net.param_count; i++) {
                assert_int_equal(net.params[i].offset, at);
                assert_int_equal(net_find_param(&net, net.params[i].name), i);
                at += net.params[i].length * net.params[i].channels;
            }
            assert_int_equal(at, net.size);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(net.params[net.block[i].weight].block, i);
                assert_int_equal(net.block[i].bias >= 0, bias);
                assert_int_equal(net.block[i].gamma >= 0, norm != NORM_NONE);
                assert_int_equal(net.block[i].beta >= 0, norm != NORM_NONE);
            }
            assert_int_equal(net.params[net.linear_weight].block, 3);
            assert_int_equal(net_find_param(&net, "conv1.bias") >= 0, bias);
            assert_int_equal(net_find_param(&net, "norm3.weight") >= 0, norm != NORM_NONE);
            assert_int_equal(net_find_param(&net, "conv4.weight"), -1);
            assert_int_equal(net_find_param(&net, ""), -1);
            assert_int_equal(net_has_running(&net), norm == NORM_BATCH || norm == NORM_BATCHRENORM);
        }
}

static void odd_images_lose_their_edge_at_each_pool(void **state)
{
    (void)state;
    struct net_config config = experiment();
    struct net net;
    config.image_h = 7;
    config.image_w = 5;
    assert_ok(net_plan(&config, &engine_reference, &net));
    assert_int_equal(net.block[1].conv.h, 3);
    assert_int_equal(net.block[1].conv.w, 2);
    assert_int_equal(net.block[2].out_h, 1);
    assert_int_equal(net.block[2].out_w, 1);
}

static void refuse(const char *text, struct net_config config)
{
    struct net net;
    assert_fails(STATUS_SHAPE, text, net_plan(&config, &engine_reference, &net));
}

#define REFUSE(text, field, value)                \
    do {                                          \
        struct net_config config = experiment();  \
        config.field = value;                     \
        refuse(text, config);                     \
    } while (0)

static void what_cannot_be_laid_out(void **state)
{
    (void)state;
    const size_t huge = SIZE_MAX / 4;
    REFUSE("0 blocks; from 1 to 16", blocks, 0);
    REFUSE("17 blocks; from 1 to 16", blocks, 17);
    REFUSE("0 classes", classes, 0);
    REFUSE("1 classes; from 2", classes, 1);
    REFUSE("classes", classes, huge);
    REFUSE("block 1: convolution of 1 images 32x32, 0 to 32 channels", image_channels, 0);
    REFUSE("block 1: convolution of 1 images 0x32", image_h, 0);
    REFUSE("block 1: convolution of 1 images 32x0", image_w, 0);
    REFUSE("block 1: convolution of 1 images 32x32, 3 to 0 channels", channels[0], 0);
    REFUSE("block 3: convolution of 1 images 8x8, 64 to 0 channels", channels[2], 0);
    REFUSE("too large", image_h, huge);
    REFUSE("too large", channels[1], huge);
    REFUSE("too large", channels[2], (size_t)1 << 31);
    REFUSE("block 2: an image of 3x32 pools away to nothing before the last of 3 blocks", image_h, 3);
    REFUSE("pools away", image_w, 1);
    REFUSE("a linear layer from 64 features to 2000000000 classes is too large", classes, 2000000000);
    struct net_config config = experiment();
    config.norm = NORM_GROUP;
    config.groups = 5;
    refuse("block 1: 5 groups do not divide 32 channels", config);
    config.groups = 0;
    refuse("block 1: 0 groups", config);
    config.groups = 64;
    refuse("block 1: 64 groups do not divide 32 channels", config);
}

/* The largest tensors that the checks let through: the vector's length was not wrapped round. */
static void sizes_do_not_wrap(void **state)
{
    (void)state;
    struct net_config config = experiment();
    struct net net;
    config.blocks = 1;
    config.image_channels = (size_t)1 << 27;
    config.channels[0] = (size_t)1 << 27;
    assert_ok(net_plan(&config, &engine_reference, &net));
    assert_true((double)net.size == 9 * 0x1p54 + 2 * 0x1p27 + 10 * 0x1p27 + 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_experiments_network),
        cmocka_unit_test(tensors_tile_the_vector),
        cmocka_unit_test(odd_images_lose_their_edge_at_each_pool),
        cmocka_unit_test(what_cannot_be_laid_out),
        cmocka_unit_test(sizes_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

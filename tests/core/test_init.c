/* Initial weights: PyTorch's distributions by default, or tensors in its layouts; and every tensor that is refused. */
#include "numbers.h"

#include "bnsweep/core/init.h"

enum { MOST = 4000 };

static struct net net;
static real weights[MOST], other[MOST], mean[64], var[64];

static struct net_config config(void)
{
    return (struct net_config){.blocks = 2, .channels = {8, 16}, .image_channels = 3, .image_h = 8, .image_w = 8, .classes = 4,
                               .norm = NORM_BATCH, .eps = 1e-5, .conv_bias = true};
}

static int plan(void **state)
{
    (void)state;
    struct net_config c = config();
    return net_plan(&c, &engine_reference, &net) != STATUS_OK || net.size > MOST;
}

static void the_default_is_uniform_within_one_over_root_fan_in(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double fan_in;
    } tensors[] = {{"conv1.weight", 27}, {"conv1.bias", 27},    {"conv2.weight", 72},
                   {"conv2.bias", 72},   {"linear.weight", 16}, {"linear.bias", 16}};
    init_default(&net, 5, weights);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        const struct net_param *param = &net.params[net_find_param(&net, tensors[i].name)];
        size_t count = param->length * param->channels;
        double bound = 1 / sqrt(tensors[i].fan_in), largest = 0, square = 0;
        for (size_t j = 0; j < count; j++) {
            double value = (double)weights[param->offset + j];
            largest = numbers_larger(largest, fabs(value));
            square += value * value / (bound * bound);
        }
        assert_true(largest < bound * (1 + 1e-7) && largest > bound * (count > 100 ? 0.98 : 0.3));
        assert_near(square / (double)count, 1.0 / 3, 5 * sqrt(4.0 / 45 / (double)count));
    }
}

static void norm_layers_start_at_one_and_zero(void **state)
{
    (void)state;
    init_default(&net, 5, weights);
    for (int i = 0; i < net.param_count; i++)
        for (size_t j = 0; j < net.params[i].channels; j++)
            if (net.params[i].kind == NET_NORM_WEIGHT || net.params[i].kind == NET_NORM_BIAS)
                assert_true(weights[net.params[i].offset + j] == (net.params[i].kind == NET_NORM_WEIGHT));
    init_running(&net, mean, var);
    for (size_t c = 0; c < net.channels; c++)
        assert_true(mean[c] == 0 && var[c] == 1);
}

static void seeds_and_tensors_differ(void **state)
{
    (void)state;
    size_t same = 0;
    init_default(&net, 5, weights);
    init_default(&net, 6, other);
    const struct net_param *first = &net.params[net.block[0].weight], *second = &net.params[net.block[1].weight];
    for (size_t j = 0; j < first->length * first->channels; j++) {
        same += weights[first->offset + j] == other[first->offset + j];
        same += (double)weights[first->offset + j] * sqrt(27) == (double)weights[second->offset + j] * sqrt(72);
    }
    assert_int_equal(same, 0);
    init_default(&net, 5, other);
    assert_memory_equal(weights, other, net.size * sizeof *weights);
}

/* A whole network in PyTorch's layouts, each value its place in the file. */
static float conv1[8 * 3 * 9], conv2[16 * 8 * 9], bias1[8], bias2[16], linear[4 * 16], linear_bias[4], norm2[16], running[16];
static struct init_tensor tensors[] = {
    {"conv1.weight", 4, {8, 3, 3, 3}, conv1}, {"conv1.bias", 1, {8}, bias1},
    {"conv2.weight", 4, {16, 8, 3, 3}, conv2}, {"conv2.bias", 1, {16}, bias2},
    {"linear.weight", 2, {4, 16}, linear},     {"linear.bias", 1, {4}, linear_bias},
    {"norm2.weight", 1, {16}, norm2},          {"norm2.running_var", 1, {16}, running},
    {"norm1.running_mean", 1, {8}, bias1},
};
enum { TENSORS = sizeof tensors / sizeof *tensors, REQUIRED = 6 };

static int fill(void **state)
{
    static const size_t counts[] = {8 * 3 * 9, 8, 16 * 8 * 9, 16, 4 * 16, 4, 16, 16};
    float *const arrays[] = {conv1, bias1, conv2, bias2, linear, linear_bias, norm2, running};
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < counts[i]; j++)
            arrays[i][j] = (float)(i * 10000 + j);
    if (plan(state))
        return 1;
    init_default(&net, 1, weights);
    init_running(&net, mean, var);
    return 0;
}

static enum status take(size_t count)
{
    return init_tensors(&net, count, tensors, weights, mean, var);
}

static void tensors_land_in_their_places(void **state)
{
    (void)state;
    assert_ok(take(TENSORS));
    const struct net_param *conv = &net.params[net_find_param(&net, "conv2.weight")];
    for (size_t o = 0; o < 16; o++)
        for (size_t c = 0; c < 8; c++)
            for (size_t tap = 0; tap < 9; tap++)
                assert_true(weights[conv->offset + (tap * 8 + c) * 16 + o] == (real)(20000 + (o * 8 + c) * 9 + tap));
    const struct net_param *matrix = &net.params[net.linear_weight];
    for (size_t o = 0; o < 4; o++)
        for (size_t i = 0; i < 16; i++)
            assert_true(weights[matrix->offset + i * 4 + o] == (real)(40000 + o * 16 + i));
    assert_true(weights[net.params[net_find_param(&net, "norm2.weight")].offset + 3] == 60003);
    assert_true(weights[net.params[net_find_param(&net, "norm1.weight")].offset + 3] == 1); /* not given: stays */
    assert_true(mean[3] == 10003 && mean[8 + 3] == 0 && var[3] == 1 && var[8 + 3] == 70003);
}

static void missing_tensors_are_named(void **state)
{
    (void)state;
    assert_ok(take(REQUIRED));
    for (size_t left_out = 0; left_out < REQUIRED; left_out++) {
        char text[64];
        struct init_tensor kept = tensors[left_out];
        tensors[left_out] = tensors[left_out ? 0 : 1]; /* another one twice */
        snprintf(text, sizeof text, "tensor '%s' is missing", kept.name);
        assert_fails(STATUS_INPUT, text, take(REQUIRED));
        tensors[left_out] = kept;
    }
    assert_fails(STATUS_INPUT, "'conv1.weight' is missing", take(0));
}

static void refuse(size_t index, struct init_tensor wrong, const char *text)
{
    struct init_tensor kept = tensors[index];
    tensors[index] = wrong;
    assert_fails(STATUS_INPUT, text, take(TENSORS));
    tensors[index] = kept;
}

static void wrong_tensors_are_named(void **state)
{
    (void)state;
    refuse(0, (struct init_tensor){"conv1.weight", 4, {8, 4, 3, 3}, conv2},
           "tensor 'conv1.weight' has shape [8, 4, 3, 3], the network needs [8, 3, 3, 3]");
    refuse(0, (struct init_tensor){"conv1.weight", 3, {8, 3, 9}, conv1},
           "tensor 'conv1.weight' has shape [8, 3, 9], the network needs [8, 3, 3, 3]");
    refuse(0, (struct init_tensor){"conv1.weight", 0, {0}, conv1}, "has shape []");
    refuse(1, (struct init_tensor){"conv1.bias", 1, {7}, bias1}, "tensor 'conv1.bias' has shape [7], the network needs [8]");
    refuse(4, (struct init_tensor){"linear.weight", 2, {16, 4}, linear},
           "tensor 'linear.weight' has shape [16, 4], the network needs [4, 16]");
    refuse(7, (struct init_tensor){"norm2.running_var", 2, {16, 1}, running},
           "tensor 'norm2.running_var' has shape [16, 1], the network needs [16]");
    refuse(6, (struct init_tensor){"norm3.weight", 1, {16}, norm2}, "'norm3.weight' is not one of this network");
    refuse(6, (struct init_tensor){"norm3.running_mean", 1, {16}, norm2}, "'norm3.running_mean' is not one of this network");
    refuse(6, (struct init_tensor){"", 1, {16}, norm2}, "'' is not one of this network");
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    conv2[100] = NAN;
    assert_fails(STATUS_INPUT, "tensor 'conv2.weight' holds nan at position 100", take(TENSORS));
    conv2[100] = INFINITY;
    assert_fails(STATUS_INPUT, "tensor 'conv2.weight' holds inf at position 100", take(TENSORS));
    conv2[100] = 0;
    running[15] = -1;
    assert_fails(STATUS_INPUT, "tensor 'norm2.running_var' holds -1 at position 15", take(TENSORS));
    running[15] = 0;
    assert_ok(take(TENSORS));
    bias1[2] = -1; /* a running mean may be negative */
    assert_ok(take(TENSORS));
}

/* Norm layers without running statistics have none to be given. */
static void running_tensors_belong_to_batch_norms(void **state)
{
    (void)state;
    struct net_config c = config();
    c.norm = NORM_LAYER;
    assert_ok(net_plan(&c, &engine_reference, &net));
    assert_ok(take(REQUIRED + 1));
    assert_fails(STATUS_INPUT, "'norm2.running_var' is not one of this network", take(TENSORS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_default_is_uniform_within_one_over_root_fan_in, plan),
        cmocka_unit_test_setup(norm_layers_start_at_one_and_zero, plan),
        cmocka_unit_test_setup(seeds_and_tensors_differ, plan),
        cmocka_unit_test_setup(tensors_land_in_their_places, fill),
        cmocka_unit_test_setup(missing_tensors_are_named, fill),
        cmocka_unit_test_setup(wrong_tensors_are_named, fill),
        cmocka_unit_test_setup(wrong_values_are_named, fill),
        cmocka_unit_test_setup(running_tensors_belong_to_batch_norms, fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

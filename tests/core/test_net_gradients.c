/* The whole network's gradient against central differences, for every norm, held layers, biases, odd images, 1 to 3 blocks.
 * Renormalisation's r and d are constants by definition: they are frozen in the difference, by taking the loss of a network
 * whose affine pair is gamma' = gamma r, beta' = beta + gamma d under plain batch norm. */
#include "small_net.h"

#include <stdlib.h>

#include "bnsweep/core/layers.h"
#include "bnsweep/core/plain.h"

enum { IMAGES = 5 };

/* Of every ReLU and pool: a bit pattern that changes where a step crosses a kink. */
static uint64_t kinks(const struct small_net *small)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < small->net.config.blocks; i++) {
        const struct net_block *block = &small->net.block[i];
        size_t count = IMAGES * block->conv.h * block->conv.w * block->conv.cout;
        const real *a = small->pass.plain->block[i].a;
        for (size_t j = 0; j < count; j++)
            hash = (hash ^ (a[j] > 0)) * 1099511628211u;
        if (!block->pool)
            continue;
        size_t outputs = IMAGES * block->out_h * block->out_w * block->conv.cout;
        real *ones = calloc(outputs, sizeof *ones), *where = calloc(count, sizeof *where);
        for (size_t j = 0; j < outputs; j++)
            ones[j] = 1;
        layers_maxpool_backward(IMAGES, block->conv.h, block->conv.w, block->conv.cout, a, ones, where);
        for (size_t j = 0; j < count; j++)
            hash = (hash ^ (where[j] > 0 && a[j] > 0)) * 1099511628211u;
        free(ones);
        free(where);
    }
    return hash;
}

/* Compare the gradient of parameter tensor `param` with differences of the loss of `plain`, whose weights are small's but for
 * the affine pairs, which `translate` derives from them. */
struct comparison {
    double worst, largest;
    size_t compared, skipped;
};

static void translate(const struct small_net *small, const double *r, const double *d, struct small_net *plain)
{
    memcpy(plain->weights, small->weights, small->net.size * sizeof(real));
    for (size_t i = 0; r && i < small->net.config.blocks; i++)
        for (size_t c = 0; c < small->net.block[i].conv.cout; c++) {
            size_t all = small->net.block[i].first_channel + c;
            size_t gamma = small->net.params[small->net.block[i].gamma].offset + c,
                   beta = small->net.params[small->net.block[i].beta].offset + c;
            plain->weights[gamma] = (real)((double)small->weights[gamma] * r[all]);
            plain->weights[beta] = (real)((double)small->weights[beta] + (double)small->weights[gamma] * d[all]);
        }
}

static struct comparison compare(struct small_net *small, const double *r, const double *d, struct small_net *plain)
{
    struct comparison result = {0};
    translate(small, r, d, plain);
    small_net_loss(plain);
    uint64_t pattern = kinks(plain);
    for (size_t i = 0; i < small->net.size; i++) {
        const real kept = small->weights[i], step = (real)1e-5;
        double loss[2];
        uint64_t seen[2];
        for (int side = 0; side < 2; side++) {
            small->weights[i] = side ? kept - step : kept + step;
            translate(small, r, d, plain);
            loss[side] = small_net_loss(plain);
            seen[side] = kinks(plain);
        }
        small->weights[i] = kept;
        result.largest = numbers_larger(result.largest, fabs((double)small->gradient[i]));
        if (seen[0] != pattern || seen[1] != pattern) {
            result.skipped++;
            continue;
        }
        result.compared++;
        result.worst = numbers_larger(result.worst, fabs((loss[0] - loss[1]) / (2 * (double)step) - (double)small->gradient[i]));
    }
    return result;
}

static void assert_gradient(const char *name, const struct net_config *config, const bool *held, double step)
{
    struct small_net small, plain;
    struct net_config without = *config;
    bool renorm = config->norm == NORM_BATCHRENORM;
    without.norm = renorm ? NORM_BATCH : config->norm;
    small_net_create(&small, config, IMAGES);
    small_net_create(&plain, &without, IMAGES);
    small.mode.step = step;
    for (size_t i = 0; held && i < config->blocks; i++)
        small.held[i] = plain.held[i] = held[i];
    small_net_gradient(&small);
    struct comparison c = compare(&small, renorm ? small.pass.transform.r : NULL, small.pass.transform.d, &plain);
    print_message("%s: error %.2g of %.2g, %zu compared, %zu at a kink\n", name, c.worst, c.largest, c.compared, c.skipped);
    assert_true(c.compared > 10 * c.skipped);
    assert_true(c.worst < 2e-8 * (1 + c.largest));
    small_net_free(&small);
    small_net_free(&plain);
}

static void every_norm(void **state)
{
    (void)state;
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
        struct net_config config = small_net_config();
        if (norm == NORM_BATCHRENORM)
            continue;
        config.norm = (enum norm_kind)norm;
        config.channels[0] = 4;
        config.groups = 2;
        assert_gradient(kinds_norm_names[norm], &config, NULL, 0);
        config.conv_bias = true;
        assert_gradient("with convolution bias", &config, NULL, 0);
    }
}

/* In the warm-up, with every correction clipped, and with none. */
static void batchrenorm_with_and_without_clipping(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    config.norm = NORM_BATCHRENORM;
    assert_gradient("batchrenorm, warm-up", &config, NULL, 0);
    assert_gradient("batchrenorm, clipped", &config, NULL, 11);
    assert_gradient("batchrenorm, open", &config, NULL, 1000);
    config.renorm.rmax = config.renorm.dmax = 1e6;
    assert_gradient("batchrenorm, never clipped", &config, (const bool[]){true, false}, 1000);
}

static void held_layers(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    assert_gradient("first held", &config, (const bool[]){true, false}, 0);
    assert_gradient("second held", &config, (const bool[]){false, true}, 0);
    config.conv_bias = true;
    assert_gradient("both held", &config, (const bool[]){true, true}, 0);
}

static void one_to_three_blocks_and_odd_images(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    for (config.blocks = 1; config.blocks <= 3; config.blocks++) {
        config.image_h = 7;
        config.image_w = 9;
        assert_gradient("7x9", &config, NULL, 0);
        config.image_h = config.image_w = (size_t)1 << config.blocks; /* pools down to two pixels */
        assert_gradient("small", &config, NULL, 0);
    }
}

/* Through a batch norm, a convolution's bias has no gradient; through a held one it has. */
static void a_bias_before_batch_norm_has_no_gradient(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    config.conv_bias = true;
    for (int held = 0; held <= 1; held++) {
        double largest = 0, weights = 0;
        small_net_create(&small, &config, IMAGES);
        small.held[0] = small.held[1] = held;
        small_net_gradient(&small);
        for (size_t i = 0; i < config.blocks; i++) {
            const struct net_param *bias = &small.net.params[small.net.block[i].bias],
                                   *weight = &small.net.params[small.net.block[i].weight];
            for (size_t c = 0; c < bias->channels; c++)
                largest = numbers_larger(largest, fabs((double)small.gradient[bias->offset + c]));
            for (size_t c = 0; c < weight->channels * weight->length; c++)
                weights = numbers_larger(weights, fabs((double)small.gradient[weight->offset + c]));
        }
        if (held)
            assert_true(largest > 0.01 * weights);
        else
            assert_true(largest < 100 * NUMBERS_ROUNDING * weights);
        small_net_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_norm),
        cmocka_unit_test(batchrenorm_with_and_without_clipping),
        cmocka_unit_test(held_layers),
        cmocka_unit_test(one_to_three_blocks_and_odd_images),
        cmocka_unit_test(a_bias_before_batch_norm_has_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The training pass: what it refuses, what it leaves alone, and that gradients overwrite. */
#include "small_net.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/core/fused.h"
#include "bnsweep/core/plain.h"

/* One image of one pixel in the last block: one value a channel. */
static void one_value_a_channel_is_refused_by_batch_norms_alone(void **state)
{
    (void)state;
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
        struct net_config config = small_net_config();
        struct small_net small;
        double loss;
        config.norm = (enum norm_kind)norm;
        config.image_h = config.image_w = 2;
        small_net_create(&small, &config, 1);
        if (!net_has_running(&small.net)) {
            assert_ok(pass_forward(&small.pass, &small.mode, small.weights, &loss));
        } else {
            assert_fails(STATUS_SHAPE, "norm2: Expected more than 1 value per channel when training, got input size [1, 6, 1]",
                         pass_forward(&small.pass, &small.mode, small.weights, &loss));
            small.held[1] = true; /* evaluation mode needs no batch */
            assert_ok(pass_forward(&small.pass, &small.mode, small.weights, &loss));
            assert_true(isfinite(loss));
        }
        small_net_free(&small);
    }
}

static void running_statistics_and_weights_are_read_only(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    config.norm = NORM_BATCHRENORM;
    small_net_create(&small, &config, 4);
    small.held[0] = true;
    small.mode.step = 100;
    struct hash mean = hash_bytes(small.running.mean, small.net.channels * sizeof(real));
    struct hash weights = hash_bytes(small.weights, small.net.size * sizeof(real));
    small_net_gradient(&small);
    assert_true(hash_equal(mean, hash_bytes(small.running.mean, small.net.channels * sizeof(real))));
    assert_true(hash_equal(weights, hash_bytes(small.weights, small.net.size * sizeof(real))));
    small_net_free(&small);
}

static void a_gradient_overwrites(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    small_net_create(&small, &config, 4);
    small_net_gradient(&small);
    struct hash first = hash_bytes(small.gradient, small.net.size * sizeof(real));
    numbers_fill(1, small.net.size, small.gradient);
    small_net_gradient(&small);
    assert_true(hash_equal(first, hash_bytes(small.gradient, small.net.size * sizeof(real))));
    small_net_free(&small);
}

/* A held layer is in evaluation mode: its transform is the running statistics', its gradient does not go through the batch's. */
static void held_layers_use_running_statistics(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    small_net_create(&small, &config, 4);
    small.held[1] = true;
    small_net_loss(&small);
    for (size_t i = 0; i < 2; i++)
        assert_true((small.pass.plain ? small.pass.plain->block[i].transform.batch : small.pass.fused->block[i].transform.batch) == (i == 0));
    for (size_t c = 0; c < 11; c++) {
        double mean = c < 5 ? small.pass.batch.mean[c] : (double)small.running.mean[c];
        double variance = c < 5 ? small.pass.batch.var[c] : (double)small.running.var[c];
        assert_true(small.pass.transform.mean[c] == mean);
        assert_near(small.pass.transform.invstd[c], 1 / sqrt(variance + 1e-5), 1e-14 / sqrt(variance));
        assert_true(small.pass.transform.r[c] == 1 && small.pass.transform.d[c] == 0);
    }
    small_net_free(&small);
}

static void updates_leave_held_layers_out(void **state)
{
    (void)state;
    for (int renorm = 0; renorm <= 1; renorm++) {
        struct net_config config = small_net_config();
        struct small_net small;
        real mean[11], var[11];
        config.norm = renorm ? NORM_BATCHRENORM : NORM_BATCH;
        small_net_create(&small, &config, 4);
        small.held[0] = true;
        small_net_loss(&small);
        memcpy(mean, small.running.mean, sizeof mean);
        memcpy(var, small.running.var, sizeof var);
        running_update(&small.net, small.held, &small.pass.batch, 4, &small.running);
        for (size_t c = 0; c < 11; c++) {
            assert_int_equal(small.running.mean[c] == mean[c], c < 5);
            assert_int_equal(small.running.var[c] == var[c], c < 5);
        }
        small_net_free(&small);
    }
}

/* A fresh set starts at 0 and 1, and counts of n images are those of all their pixels. */
static void the_update_counts_pixels(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    struct running fresh;
    small_net_create(&small, &config, 4);
    assert_ok(running_create(&fresh, &small.net, 0.25, &small.arena));
    assert_true(fresh.mean[0] == 0 && fresh.var[10] == 1);
    small_net_loss(&small);
    running_update(&small.net, small.held, &small.pass.batch, 4, &fresh);
    for (size_t c = 0; c < 11; c++) {
        double count = 4.0 * (c < 5 ? 7 * 6 : 3 * 3);
        assert_near(fresh.mean[c], 0.25 * small.pass.batch.mean[c], 2 * NUMBERS_ROUNDING);
        assert_near(fresh.var[c], 0.75 + 0.25 * small.pass.batch.var[c] * count / (count - 1), 2 * NUMBERS_ROUNDING);
    }
    small_net_free(&small);
}

/* Channels that are padded to 16 can take more than the convolution's own check saw. */
static void a_room_that_overflows_is_refused(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct net net;
    size_t size, most = SIZE_MAX / (CONV_TAPS * 7 * 6 * sizeof(real));
    config.blocks = 1;
    config.channels[0] = config.image_channels = 1;
    for (size_t e = 0; engine_at(e); e++) {
        assert_ok(net_plan(&config, engine_at(e), &net));
        if (engine_at(e)->block)
            assert_fails(STATUS_SHAPE, "are too large", pass_room(&net, most, &size));
        assert_fails(STATUS_SHAPE, "is too large", pass_room(&net, most + 1, &size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_a_channel_is_refused_by_batch_norms_alone),
        cmocka_unit_test(running_statistics_and_weights_are_read_only),
        cmocka_unit_test(a_gradient_overwrites),
        cmocka_unit_test(held_layers_use_running_statistics),
        cmocka_unit_test(updates_leave_held_layers_out),
        cmocka_unit_test(the_update_counts_pixels),
        cmocka_unit_test(a_room_that_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

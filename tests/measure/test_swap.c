/* Swapping statistics: orders, there and back, and that all swapped is fresh. */
#include "small_net.h"

#include "bnsweep/measure/plan.h"
#include "bnsweep/measure/swap.h"

enum { CHANNELS = 11 };

static struct small_net small;
static struct batchnorm_transform stale, fresh, mixed;

static int create(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    small_net_create(&small, &config, 4);
    small_net_loss(&small);
    assert_ok(running_transform_create(&stale, &small.net, &small.arena));
    assert_ok(running_transform_create(&fresh, &small.net, &small.arena));
    assert_ok(running_transform_create(&mixed, &small.net, &small.arena));
    running_evaluation(&small.net, &small.running, &stale);
    running_evaluation_batch(&small.net, &small.pass.batch, &fresh);
    swap_copy(CHANNELS, &stale, &mixed);
    return small.net.channels != CHANNELS;
}

static int destroy(void **state)
{
    (void)state;
    small_net_free(&small);
    return 0;
}

static bool channel_equal(size_t c, const struct batchnorm_transform *a, const struct batchnorm_transform *b)
{
    return a->mean[c] == b->mean[c] && a->invstd[c] == b->invstd[c] && a->r[c] == b->r[c] && a->d[c] == b->d[c];
}

static void assert_same(const struct batchnorm_transform *a, const struct batchnorm_transform *b)
{
    for (size_t c = 0; c < CHANNELS; c++)
        assert_true(channel_equal(c, a, b));
    assert_int_equal(a->batch, b->batch);
}

static void there_and_back_is_the_identity(void **state)
{
    (void)state;
    uint32_t order[CHANNELS];
    swap_order(&small.net, PLAN_ORDER_RANDOM, NULL, NULL, 3, 100, order);
    for (size_t first = 0; first < CHANNELS; first++)
        for (size_t count = 1; first + count <= CHANNELS; count++) {
            swap_channels(order, first, count, &fresh, &mixed);
            for (size_t i = 0; i < CHANNELS; i++) {
                bool swapped = i >= first && i < first + count;
                assert_true(channel_equal(order[i], &mixed, swapped ? &fresh : &stale));
                assert_false(channel_equal(order[i], &mixed, swapped ? &stale : &fresh));
            }
            swap_channels(order, first, count, &stale, &mixed);
            assert_same(&mixed, &stale);
        }
    for (size_t block = 0; block < 2; block++) {
        swap_layer(&small.net, block, &fresh, &mixed);
        for (size_t c = 0; c < CHANNELS; c++)
            assert_true(channel_equal(c, &mixed, (c >= 5) == block ? &fresh : &stale));
        swap_layer(&small.net, block, &stale, &mixed);
        assert_same(&mixed, &stale);
    }
}

static void all_swapped_is_fresh(void **state)
{
    (void)state;
    uint32_t order[CHANNELS];
    swap_order(&small.net, PLAN_ORDER_RANDOM, NULL, NULL, 3, 100, order);
    size_t done = 0;
    for (size_t i = 0; i < plan_k_count(CHANNELS); done = plan_k(CHANNELS, i), i++)
        swap_channels(order, done, plan_k(CHANNELS, i) - done, &fresh, &mixed);
    assert_int_equal(done, CHANNELS);
    assert_same(&mixed, &fresh);
    swap_copy(CHANNELS, &stale, &mixed);
    swap_layer(&small.net, 0, &fresh, &mixed);
    swap_layer(&small.net, 1, &fresh, &mixed);
    assert_same(&mixed, &fresh);
}

static void orders_put_the_largest_first(void **state)
{
    (void)state;
    double lag[CHANNELS] = {0.1, -3, NAN, 2, 0, 3, -0.5, 2, NAN, -INFINITY, 0},
           angle[CHANNELS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, NAN};
    static const uint32_t by_lag[] = {9, 1, 5, 3, 7, 6, 0, 4, 10, 2, 8}, by_angle[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10};
    uint32_t order[CHANNELS];
    swap_order(&small.net, PLAN_ORDER_LAG, lag, angle, 1, 2, order);
    assert_memory_equal(order, by_lag, sizeof order);
    swap_order(&small.net, PLAN_ORDER_ANGLE, lag, angle, 1, 2, order);
    assert_memory_equal(order, by_angle, sizeof order);
}

static void random_orders_depend_on_seed_and_step(void **state)
{
    (void)state;
    uint32_t first[CHANNELS], again[CHANNELS], other[CHANNELS], seen = 0;
    swap_order(&small.net, PLAN_ORDER_RANDOM, NULL, NULL, 1, 2000, first);
    swap_order(&small.net, PLAN_ORDER_RANDOM, NULL, NULL, 1, 2000, again);
    assert_memory_equal(first, again, sizeof first);
    swap_order(&small.net, PLAN_ORDER_RANDOM, NULL, NULL, 2, 2000, other);
    assert_memory_not_equal(first, other, sizeof first);
    swap_order(&small.net, PLAN_ORDER_RANDOM, NULL, NULL, 1, 2100, other);
    assert_memory_not_equal(first, other, sizeof first);
    for (size_t i = 0; i < CHANNELS; i++)
        seen |= 1u << first[i];
    assert_int_equal(seen, (1u << CHANNELS) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_and_back_is_the_identity, create, destroy),
        cmocka_unit_test_setup_teardown(all_swapped_is_fresh, create, destroy),
        cmocka_unit_test_setup_teardown(orders_put_the_largest_first, create, destroy),
        cmocka_unit_test_setup_teardown(random_orders_depend_on_seed_and_step, create, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

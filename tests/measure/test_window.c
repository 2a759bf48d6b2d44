/* The last angle_window steps: means that wrap round, steps that do not count, snapshots from when the window opened. */
#include "small_net.h"

#include "bnsweep/measure/geometry.h"
#include "bnsweep/measure/window.h"

static struct small_net small;

static int create(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    small_net_create(&small, &config, 2);
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    small_net_free(&small);
    return 0;
}

/* Step s has loss s^2 and, in channel c, cosines s + c and -(s + c); every third is NaN in channel 1, all are in channel 2. */
static void means_over_the_last_steps(void **state)
{
    (void)state;
    enum { LENGTH = 4, CHANNELS = 11 };
    struct plan plan = {
        .steps = 20, .first_check = LENGTH, .check_every = 3, .angle_window = LENGTH, .val_size = 1, .probe_size = 1};
    struct window window;
    assert_ok(window_create(&window, &small.net, &plan, &small.arena));
    for (uint64_t step = 1; step <= 20; step++) {
        double *update, *gradient, mean[CHANNELS], mean_gradient[CHANNELS];
        window_enter(&window, step, (double)(step * step), &update, &gradient);
        for (size_t c = 0; c < CHANNELS; c++) {
            bool counts = c == 1 ? step % 3 != 0 : c != 2;
            update[c] = counts ? (double)(step + c) : NAN;
            gradient[c] = -update[c];
        }
        if (step < LENGTH)
            continue;
        double loss = 0, sum = 0, count = 0;
        for (uint64_t s = step - LENGTH + 1; s <= step; s++) {
            loss += (double)(s * s) / LENGTH;
            sum += s % 3 ? (double)(s + 1) : 0;
            count += s % 3 ? 1 : 0;
        }
        window_mean(&window, step, window.cos_update, mean);
        window_mean(&window, step, window.cos_grad, mean_gradient);
        assert_near(window_loss(&window, step), loss, 1e-12);
        for (size_t c = 0; c < CHANNELS; c++) {
            if (c == 2) {
                assert_true(isnan(mean[c]) && isnan(mean_gradient[c]));
                continue;
            }
            double expected = c == 1 ? sum / count : (double)(step + c) - (LENGTH - 1) / 2.0;
            assert_near(mean[c], expected, 1e-12);
            assert_near(mean_gradient[c], -expected, 1e-12);
        }
    }
}

/* For windows shorter, equal and longer than the checks' distance: at each check the opening is the weights of that many steps ago.
 */
static void snapshots_wait_for_their_check(void **state)
{
    (void)state;
    for (uint64_t length = 1; length <= 9; length++)
        for (uint64_t every = 1; every <= 5; every++)
            for (uint64_t first = length; first <= length + 3; first++) {
                struct plan plan = {.steps = 25,
                                    .first_check = first,
                                    .check_every = every,
                                    .angle_window = length,
                                    .val_size = 1,
                                    .probe_size = 1};
                struct arena arena = {0};
                struct window window;
                uint64_t check, checks = 0;
                assert_ok(window_create(&window, &small.net, &plan, &arena));
                for (uint64_t step = 0; step <= 25; step++) {
                    for (size_t i = 0; i < small.net.size; i++)
                        small.weights[i] = (real)(step * 1000 + i);
                    window_snapshot(&window, step, small.weights);
                    if (!plan_is_check(&plan, step, &check))
                        continue;
                    const real *opening = window_opening(&window, check);
                    size_t offset = small.net.params[small.net.block[0].weight].offset;
                    assert_true(opening[0] == (real)((step - length) * 1000 + offset));
                    checks++;
                }
                assert_int_equal(checks, plan_check_count(&plan));
                arena_free(&arena);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(means_over_the_last_steps, create, destroy),
        cmocka_unit_test_setup_teardown(snapshots_wait_for_their_check, create, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Norms, cosines and angles of the convolutions' channels. */
#include "small_net.h"

#include "bnsweep/measure/geometry.h"

enum { CHANNELS = 11 };

static struct small_net small;
static double out[CHANNELS];

static int create(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    small_net_create(&small, &config, 2);
    return small.net.channels != CHANNELS;
}

static int destroy(void **state)
{
    (void)state;
    small_net_free(&small);
    return 0;
}

/* Place of value k of channel c (of all convolutions together) in the vector of all parameters; false past the last k. */
static bool place(size_t c, size_t k, size_t *at)
{
    size_t block = c >= small.net.block[1].first_channel;
    const struct net_param *param = &small.net.params[small.net.block[block].weight];
    *at = param->offset + k * param->channels + c - small.net.block[block].first_channel;
    return k < param->length;
}

static void norms_and_cosines_per_channel(void **state)
{
    (void)state;
    double norm[CHANNELS], cosine[CHANNELS];
    numbers_fill(9, small.net.size, small.gradient);
    geometry_norm(&small.net, small.weights, norm);
    geometry_cosine(&small.net, small.gradient, small.weights, cosine);
    for (size_t c = 0; c < CHANNELS; c++) {
        double ww = 0, gg = 0, wg = 0;
        for (size_t k = 0, at; place(c, k, &at); k++) {
            double w = (double)small.weights[at], g = (double)small.gradient[at];
            ww += w * w;
            gg += g * g;
            wg += w * g;
        }
        assert_near(norm[c], sqrt(ww), 1e-14);
        assert_near(cosine[c], wg / sqrt(ww * gg), 1e-14);
    }
    geometry_cosine(&small.net, small.weights, small.weights, cosine);
    for (size_t c = 0; c < CHANNELS; c++)
        assert_near(cosine[c], 1, 1e-14);
}

static void copies_hold_the_convolutions_alone(void **state)
{
    (void)state;
    size_t size = geometry_conv_size(&small.net), at = 0;
    assert_int_equal(size, 18 * 5 + 45 * 6);
    real *copy = arena_array(&small.arena, size, sizeof *copy);
    geometry_conv_copy(&small.net, small.weights, copy);
    for (size_t block = 0; block < 2; block++) {
        const struct net_param *param = &small.net.params[small.net.block[block].weight];
        size_t count = param->length * param->channels;
        assert_memory_equal(copy + at, small.weights + param->offset, count * sizeof *copy);
        at += count;
    }
    assert_int_equal(at, size);
}

/* Turn every channel by `degrees` in the plane of its first two weights, the rest 0; return the largest error. */
static double turn(double degrees, double length)
{
    real *then = arena_array(&small.arena, geometry_conv_size(&small.net), sizeof *then);
    double radians = degrees * acos(-1) / 180, worst = 0;
    for (size_t c = 0; c < CHANNELS; c++)
        for (size_t k = 0, at; place(c, k, &at); k++)
            small.weights[at] = k == 0;
    geometry_conv_copy(&small.net, small.weights, then);
    for (size_t c = 0; c < CHANNELS; c++)
        for (size_t k = 0, at; k < 2 && place(c, k, &at); k++)
            small.weights[at] = (real)(length * (k ? sin(radians) : cos(radians)));
    geometry_angle(&small.net, small.weights, then, out);
    for (size_t c = 0; c < CHANNELS; c++)
        worst = numbers_larger(worst, fabs(out[c] - degrees));
    return worst;
}

static void angles_are_exact_however_small(void **state)
{
    (void)state;
    static const double angles[] = {1e-7, 1e-5, 1e-3, 0.46, 24.29, 45, 60, 90, 120, 179, 179.99};
    double worst = 0;
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        double error = turn(angles[i], 1) / angles[i];
        worst = numbers_larger(worst, error);
        assert_true(error < 16 * NUMBERS_ROUNDING + 1e-14);
        assert_true(turn(angles[i], 3.7) / angles[i] < 16 * NUMBERS_ROUNDING + 1e-14); /* lengths do not matter */
    }
    print_message("largest relative error of an angle: %.2g\n", worst);
}

static void zero_and_half_a_turn(void **state)
{
    (void)state;
    real *then = arena_array(&small.arena, geometry_conv_size(&small.net), sizeof *then);
    geometry_conv_copy(&small.net, small.weights, then);
    geometry_angle(&small.net, small.weights, then, out);
    for (size_t c = 0; c < CHANNELS; c++)
        assert_true(out[c] == 0);
    for (size_t i = 0; i < small.net.size; i++)
        small.weights[i] *= -2;
    geometry_angle(&small.net, small.weights, then, out);
    for (size_t c = 0; c < CHANNELS; c++)
        assert_near(out[c], 180, 1e-13);
    for (size_t i = 0; i < small.net.size; i++)
        small.weights[i] *= -64; /* a power of two longer: the same direction, to the bit */
    geometry_angle(&small.net, small.weights, then, out);
    for (size_t c = 0; c < CHANNELS; c++)
        assert_near(out[c], 0, 1e-13);
    assert_true(turn(90, 1) < 180 * NUMBERS_ROUNDING);
}

static void a_channel_of_zeros_has_no_direction(void **state)
{
    (void)state;
    real *then = arena_array(&small.arena, geometry_conv_size(&small.net), sizeof *then);
    double cosine[CHANNELS], norm[CHANNELS];
    geometry_conv_copy(&small.net, small.weights, then);
    small_net_scale(&small, 1, 3, 0);
    geometry_angle(&small.net, small.weights, then, out);
    geometry_cosine(&small.net, small.weights, small.weights, cosine);
    geometry_norm(&small.net, small.weights, norm);
    for (size_t c = 0; c < CHANNELS; c++) {
        bool dead = c == 5 + 3;
        assert_int_equal(isnan(out[c]) != 0, dead);
        assert_int_equal(isnan(cosine[c]) != 0, dead);
        assert_int_equal(norm[c] == 0, dead);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(norms_and_cosines_per_channel, create, destroy),
        cmocka_unit_test_setup_teardown(copies_hold_the_convolutions_alone, create, destroy),
        cmocka_unit_test_setup_teardown(angles_are_exact_however_small, create, destroy),
        cmocka_unit_test_setup_teardown(zero_and_half_a_turn, create, destroy),
        cmocka_unit_test_setup_teardown(a_channel_of_zeros_has_no_direction, create, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Behind a batch norm only the direction of a channel's weights matters:
 * L(alpha w) = L(w), <gradient, w> = 0, gradient(alpha w) = gradient(w)/alpha; exactly so where eps is scaled along or is 0. */
#include "small_net.h"

enum { IMAGES = 6 };

static double channel_dot(const struct small_net *small, size_t block, size_t channel, const real *a, const real *b)
{
    const struct net_param *param = &small->net.params[small->net.block[block].weight];
    double sum = 0;
    for (size_t i = 0; i < param->length; i++) {
        size_t at = param->offset + i * param->channels + channel;
        sum += (double)a[at] * (double)b[at];
    }
    return sum;
}

/* Loss and gradient with all channels of all convolutions times alpha. */
static void create_scaled(struct small_net *small, double eps, double alpha)
{
    struct net_config config = small_net_config();
    config.eps = eps;
    small_net_create(small, &config, IMAGES);
    for (size_t block = 0; block < config.blocks; block++)
        for (size_t c = 0; c < config.channels[block]; c++)
            small_net_scale(small, block, c, alpha);
    small_net_gradient(small);
}

/* Powers of two scale without rounding, and eps alpha^2 with them: the same bits. */
static void scaling_eps_along_is_exact(void **state)
{
    (void)state;
    struct small_net one, scaled;
    create_scaled(&one, 1e-5, 1);
    for (int power = -3; power <= 3; power++) {
        double alpha = ldexp(1, power);
        create_scaled(&scaled, ldexp(1e-5, 2 * power), alpha);
        assert_true(small_net_loss(&scaled) == small_net_loss(&one));
        small_net_gradient(&scaled);
        small_net_gradient(&one);
        for (int p = 0; p < one.net.param_count; p++) {
            const struct net_param *param = &one.net.params[p];
            double factor = param->kind == NET_CONV_WEIGHT ? alpha : 1;
            for (size_t i = param->offset; i < param->offset + param->length * param->channels; i++)
                assert_true((double)scaled.gradient[i] * factor == (double)one.gradient[i]);
        }
        small_net_free(&scaled);
    }
    small_net_free(&one);
}

/* Any alpha, eps scaled along: to rounding. */
static void any_factor_to_rounding(void **state)
{
    (void)state;
    struct small_net one, scaled;
    static const double factors[] = {0.1, 0.7, 3, 100};
    create_scaled(&one, 1e-5, 1);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        create_scaled(&scaled, 1e-5 * factors[i] * factors[i], factors[i]);
        assert_near(small_net_loss(&scaled), small_net_loss(&one), 16 * NUMBERS_ROUNDING);
        small_net_free(&scaled);
    }
    small_net_free(&one);
}

/* One channel alone, at eps = 0: nothing but that channel's gradient changes, and it by 1/alpha. */
static void one_channel_alone(void **state)
{
    (void)state;
    for (size_t block = 0; block < 2; block++)
        for (size_t channel = 0; channel < 5; channel++) {
            struct small_net one, scaled;
            create_scaled(&one, 0, 1);
            create_scaled(&scaled, 0, 1);
            small_net_scale(&scaled, block, channel, 4);
            assert_true(small_net_loss(&scaled) == small_net_loss(&one));
            small_net_gradient(&one);
            small_net_gradient(&scaled);
            const struct net_param *param = &one.net.params[one.net.block[block].weight];
            for (size_t i = 0; i < one.net.size; i++) {
                bool own = i >= param->offset && i < param->offset + param->length * param->channels &&
                           (i - param->offset) % param->channels == channel;
                assert_true(scaled.gradient[i] * (own ? 4 : 1) == one.gradient[i]);
            }
            small_net_free(&one);
            small_net_free(&scaled);
        }
}

/* With a fixed eps the loss does change, as much as the same change of eps does: alpha w with eps is w with eps/alpha^2. */
static void a_fixed_eps_is_what_breaks_it(void **state)
{
    (void)state;
    struct small_net one, scaled, equivalent;
    create_scaled(&one, 1e-2, 1);
    create_scaled(&scaled, 1e-2, 0.25);
    create_scaled(&equivalent, 16e-2, 1);
    assert_true(small_net_loss(&scaled) == small_net_loss(&equivalent));
    assert_true(fabs(small_net_loss(&scaled) - small_net_loss(&one)) > 1e-4);
    small_net_free(&one);
    small_net_free(&scaled);
    small_net_free(&equivalent);
}

/* <gradient, w> = 0 per channel at eps = 0. */
static void the_gradient_is_orthogonal(void **state)
{
    (void)state;
    struct small_net small;
    double worst = 0;
    create_scaled(&small, 0, 1);
    for (size_t block = 0; block < 2; block++)
        for (size_t c = 0; c < small.net.config.channels[block]; c++) {
            double size = sqrt(channel_dot(&small, block, c, small.gradient, small.gradient) *
                               channel_dot(&small, block, c, small.weights, small.weights));
            assert_true(size > 0);
            worst = numbers_larger(worst, fabs(channel_dot(&small, block, c, small.gradient, small.weights)) / size);
        }
    print_message("largest cosine of gradient and weights: %.2g\n", worst);
    assert_true(worst < 64 * NUMBERS_ROUNDING);
    small_net_free(&small);
}

/* With eps: y = (z - mean)/sqrt(var + eps), so along the weights dL/d ln alpha = eps/(var + eps) <dL/dxhat, xhat>, and the last
 * factor is gamma dgamma: the radial gradient, to the digit. */
static void eps_explains_what_is_left_of_the_radial_gradient(void **state)
{
    (void)state;
    static const double sizes[] = {1e-3, 0.1, 10};
    for (size_t e = 0; e < sizeof sizes / sizeof *sizes; e++) {
        struct small_net small;
        create_scaled(&small, sizes[e], 1);
        for (size_t block = 0; block < 2; block++)
            for (size_t c = 0; c < small.net.config.channels[block]; c++) {
                size_t gamma = small.net.params[small.net.block[block].gamma].offset + c,
                       all = small.net.block[block].first_channel + c;
                double expected = sizes[e] / (small.pass.batch.var[all] + sizes[e]) * (double)small.weights[gamma] *
                                  (double)small.gradient[gamma];
                double size = sqrt(channel_dot(&small, block, c, small.gradient, small.gradient) *
                                   channel_dot(&small, block, c, small.weights, small.weights));
                assert_near(channel_dot(&small, block, c, small.gradient, small.weights), expected, 64 * NUMBERS_ROUNDING * size);
            }
        small_net_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_eps_along_is_exact),
        cmocka_unit_test(any_factor_to_rounding),
        cmocka_unit_test(one_channel_alone),
        cmocka_unit_test(a_fixed_eps_is_what_breaks_it),
        cmocka_unit_test(the_gradient_is_orthogonal),
        cmocka_unit_test(eps_explains_what_is_left_of_the_radial_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

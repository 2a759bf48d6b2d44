/* What updates do to the length of the weights: SGD's Pythagoras, Adam's lean outward, the projected update's right angle. */
#include "small_net.h"

#include "bnsweep/core/optim.h"
#include "bnsweep/measure/geometry.h"

enum { CHANNELS = 11 };

static const bool frozen[NET_MAX_BLOCKS + 1];

static void create(struct small_net *small, struct optim *optim, const struct optim_config *config, double eps, real **update)
{
    struct net_config net = small_net_config();
    net.eps = eps;
    small_net_create(small, &net, 6);
    assert_int_equal(small->net.channels, CHANNELS);
    assert_ok(optim_create(optim, config, &small->net, &small->arena));
    *update = arena_array(&small->arena, small->net.size, sizeof(real));
    assert_non_null(*update);
}

static void step(struct small_net *small, struct optim *optim, double rate, real *update)
{
    small_net_gradient(small);
    optim_update(optim, rate, frozen, small->weights, small->gradient, update);
}

static void apply(struct small_net *small, const real *update)
{
    for (size_t i = 0; i < small->net.size; i++)
        small->weights[i] += update[i];
}

/* |w'|^2 = |w|^2 + lr^2 |g|^2 for each channel, at eps = 0, at every step. */
static void pythagoras_for_sgd(void **state)
{
    (void)state;
    struct small_net small;
    struct optim optim;
    real *update;
    create(&small, &optim, &(struct optim_config){.kind = OPTIM_SGD}, 0, &update);
    for (int i = 0; i < 5; i++) {
        double before[CHANNELS], gradient[CHANNELS], after[CHANNELS];
        const double lr = 2;
        step(&small, &optim, lr, update);
        geometry_norm(&small.net, small.weights, before);
        geometry_norm(&small.net, small.gradient, gradient);
        apply(&small, update);
        geometry_norm(&small.net, small.weights, after);
        for (size_t c = 0; c < CHANNELS; c++) {
            double grown = lr * lr * gradient[c] * gradient[c];
            assert_true(grown > 100 * NUMBERS_ROUNDING * before[c] * before[c]); /* there is something to see */
            assert_near(after[c] * after[c], before[c] * before[c] + grown, 64 * NUMBERS_ROUNDING * after[c] * after[c]);
        }
    }
    small_net_free(&small);
}

/* Adam's step stands at an angle to the weights though its gradient is orthogonal to them. */
static void adam_is_not_orthogonal(void **state)
{
    (void)state;
    struct small_net small;
    struct optim optim;
    real *update;
    double cosine[CHANNELS], gradient[CHANNELS], largest = 0;
    create(&small, &optim, &(struct optim_config){.kind = OPTIM_ADAM, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}, 0, &update);
    step(&small, &optim, 0.01, update);
    geometry_cosine(&small.net, update, small.weights, cosine);
    geometry_cosine(&small.net, small.gradient, small.weights, gradient);
    for (size_t c = 0; c < CHANNELS; c++) {
        assert_near(gradient[c], 0, 64 * NUMBERS_ROUNDING);
        largest = numbers_larger(largest, fabs(cosine[c]));
    }
    assert_true(largest > 0.05);
    small_net_free(&small);
}

/* `project` on every optimizer, with decay and over several steps: the whole update is orthogonal to each channel's weights,
 * so that no channel gets shorter; tensors other than the convolutions' weights are left alone. */
static void projected_updates_are_orthogonal(void **state)
{
    (void)state;
    for (int kind = 0; kind < OPTIM_KIND_COUNT; kind++) {
        struct optim_config config = {
            .kind = (enum optim_kind)kind, .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1};
        struct small_net small, plain;
        struct optim optim, plain_optim;
        real *update, *plain_update;
        double worst = 0;
        create(&plain, &plain_optim, &config, 1e-5, &plain_update);
        config.project = true;
        create(&small, &optim, &config, 1e-5, &update);
        step(&plain, &plain_optim, 0.05, plain_update);
        for (int i = 0; i < 5; i++) {
            double cosine[CHANNELS], before[CHANNELS], after[CHANNELS];
            step(&small, &optim, 0.05, update);
            geometry_cosine(&small.net, update, small.weights, cosine);
            geometry_norm(&small.net, small.weights, before);
            if (i == 0) {
                for (int p = 0; p < small.net.param_count; p++) {
                    const struct net_param *param = &small.net.params[p];
                    bool same = !memcmp(update + param->offset, plain_update + param->offset,
                                        param->length * param->channels * sizeof(real));
                    assert_int_equal(same, param->kind != NET_CONV_WEIGHT);
                }
            }
            apply(&small, update);
            geometry_norm(&small.net, small.weights, after);
            for (size_t c = 0; c < CHANNELS; c++) {
                worst = numbers_larger(worst, fabs(cosine[c]));
                assert_true(after[c] > before[c] * (1 - 4 * NUMBERS_ROUNDING));
            }
        }
        print_message("%s: largest cosine %.2g\n", kinds_optim_names[kind], worst);
        assert_true(worst < 16 * NUMBERS_ROUNDING);
        small_net_free(&small);
        small_net_free(&plain);
    }
}

/* The projection takes out the radial part and nothing else: what is added back is along the weights. */
static void the_projection_removes_the_radial_part_only(void **state)
{
    (void)state;
    struct optim_config config = {.kind = OPTIM_ADAM, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    struct small_net plain, small;
    struct optim plain_optim, optim;
    real *plain_update, *update;
    double cosine[CHANNELS];
    create(&plain, &plain_optim, &config, 1e-5, &plain_update);
    config.project = true;
    create(&small, &optim, &config, 1e-5, &update);
    step(&plain, &plain_optim, 0.05, plain_update);
    step(&small, &optim, 0.05, update);
    for (size_t i = 0; i < small.net.size; i++)
        update[i] = plain_update[i] - update[i];
    geometry_cosine(&small.net, update, small.weights, cosine);
    for (size_t c = 0; c < CHANNELS; c++)
        assert_near(fabs(cosine[c]), 1, sizeof(real) == 4 ? 1e-4 : 1e-12);
    small_net_free(&small);
    small_net_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pythagoras_for_sgd),
        cmocka_unit_test(adam_is_not_orthogonal),
        cmocka_unit_test(projected_updates_are_orthogonal),
        cmocka_unit_test(the_projection_removes_the_radial_part_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every optimizer against PyTorch 1.13's formulas, written again in double, over several steps. */
#include "small_net.h"

#include "bnsweep/core/optim.h"

enum { STEPS = 12, MOST = 1000 };

/* PyTorch's own order of operations, one scalar at a time: p, grad and state in; p out. */
struct scalar {
    double p, buf, m, v;
};

static void torch_sgd(const struct optim_config *config, double lr, int step, double grad, struct scalar *s)
{
    grad += config->weight_decay * s->p;
    s->buf = step == 1 ? grad : config->momentum * s->buf + grad;
    if (config->momentum != 0)
        grad = config->nesterov ? grad + config->momentum * s->buf : s->buf;
    s->p -= lr * grad;
}

static void torch_adam(const struct optim_config *config, double lr, int step, double grad, struct scalar *s)
{
    if (config->kind == OPTIM_ADAMW)
        s->p *= 1 - lr * config->weight_decay;
    else
        grad += config->weight_decay * s->p;
    s->m = config->beta1 * s->m + (1 - config->beta1) * grad;
    s->v = config->beta2 * s->v + (1 - config->beta2) * grad * grad;
    double correction1 = 1 - pow(config->beta1, step), correction2 = 1 - pow(config->beta2, step);
    double denominator = sqrt(s->v) / sqrt(correction2) + config->eps;
    s->p -= lr / correction1 * s->m / denominator;
}

static double rate_of(int step)
{
    return 0.01 / (1 + 0.3 * step); /* changing, so that a rate taken at the wrong place would show */
}

/* The largest distance from PyTorch's parameters over all steps, with the same gradients of any size. */
static double distance(const struct optim_config *config)
{
    static const bool frozen[NET_MAX_BLOCKS + 1];
    struct net_config net = small_net_config();
    struct small_net small;
    struct optim optim;
    static struct scalar torch[MOST];
    double worst = 0;
    small_net_create(&small, &net, 2);
    assert_true(small.net.size <= MOST);
    assert_ok(optim_create(&optim, config, &small.net, &small.arena));
    real *update = arena_array(&small.arena, small.net.size, sizeof *update);
    for (size_t i = 0; i < small.net.size; i++)
        torch[i] = (struct scalar){.p = (double)small.weights[i]};
    for (int step = 1; step <= STEPS; step++) {
        numbers_fill((uint64_t)step, small.net.size, small.gradient);
        for (size_t i = 0; i < small.net.size; i++)
            small.gradient[i] *= (real)pow(10, (double)(i % 5) - 4);
        optim_update(&optim, rate_of(step), frozen, small.weights, small.gradient, update);
        assert_int_equal(optim.step, step);
        assert_true(optim.rate == rate_of(step));
        for (size_t i = 0; i < small.net.size; i++) {
            small.weights[i] += update[i];
            (config->kind == OPTIM_SGD ? torch_sgd : torch_adam)(config, rate_of(step), step, (double)small.gradient[i], &torch[i]);
            worst = numbers_larger(worst, fabs((double)small.weights[i] - torch[i].p));
        }
    }
    small_net_free(&small);
    return worst;
}

static void as_pytorch(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct optim_config config;
    } cases[] = {
        {"sgd", {.kind = OPTIM_SGD}},
        {"sgd, decay", {.kind = OPTIM_SGD, .weight_decay = 0.1}},
        {"momentum", {.kind = OPTIM_SGD, .momentum = 0.9}},
        {"momentum, decay", {.kind = OPTIM_SGD, .momentum = 0.9, .weight_decay = 0.1}},
        {"nesterov", {.kind = OPTIM_SGD, .momentum = 0.9, .nesterov = true}},
        {"nesterov, decay", {.kind = OPTIM_SGD, .momentum = 0.9, .nesterov = true, .weight_decay = 0.1}},
        {"adam", {.kind = OPTIM_ADAM, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
        {"adam, decay", {.kind = OPTIM_ADAM, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1}},
        {"adam, other constants", {.kind = OPTIM_ADAM, .beta1 = 0.5, .beta2 = 0.9, .eps = 1e-2}},
        {"adamw", {.kind = OPTIM_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
        {"adamw, decay", {.kind = OPTIM_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double worst = distance(&cases[i].config);
        print_message("%s: %.2g\n", cases[i].name, worst);
        assert_true(worst < 32 * NUMBERS_ROUNDING);
    }
}

/* Frozen blocks stand still and keep their optimizer state; the others do not notice. */
static void frozen_blocks_stand_still(void **state)
{
    (void)state;
    static const bool none[NET_MAX_BLOCKS + 1], first[NET_MAX_BLOCKS + 1] = {true};
    static const bool classifier[NET_MAX_BLOCKS + 1] = {false, false, true};
    const bool *const frozen[] = {none, first, classifier};
    for (int kind = 0; kind < OPTIM_KIND_COUNT; kind++) {
        struct net_config net = small_net_config();
        struct small_net small;
        struct optim optims[3];
        real *updates[3];
        struct optim_config config = {
            .kind = (enum optim_kind)kind, .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1};
        small_net_create(&small, &net, 4);
        small_net_gradient(&small);
        for (int i = 0; i < 3; i++) {
            updates[i] = arena_array(&small.arena, small.net.size, sizeof(real));
            assert_ok(optim_create(&optims[i], &config, &small.net, &small.arena));
            optim_update(&optims[i], 0.1, none, small.weights, small.gradient, updates[i]);
            optim_update(&optims[i], 0.1, frozen[i], small.weights, small.gradient, updates[i]);
        }
        for (int p = 0; p < small.net.param_count; p++) {
            const struct net_param *param = &small.net.params[p];
            for (size_t j = param->offset; j < param->offset + param->length * param->channels; j++)
                for (int i = 1; i < 3; i++) {
                    bool still = frozen[i][param->block];
                    assert_true(updates[i][j] == (still ? 0 : updates[0][j]));
                    if (!still)
                        assert_true(optims[i].first[j] == optims[0].first[j]);
                }
        }
        small_net_free(&small);
    }
}

static void tensors_of_zero_stay_finite(void **state)
{
    (void)state;
    static const bool frozen[NET_MAX_BLOCKS + 1];
    for (int kind = 0; kind < OPTIM_KIND_COUNT; kind++) {
        struct net_config net = small_net_config();
        struct small_net small;
        struct optim optim;
        struct optim_config config = {.kind = (enum optim_kind)kind, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .project = true};
        small_net_create(&small, &net, 2);
        assert_ok(optim_create(&optim, &config, &small.net, &small.arena));
        memset(small.weights, 0, small.net.size * sizeof(real));
        memset(small.gradient, 0, small.net.size * sizeof(real));
        real *update = arena_array(&small.arena, small.net.size, sizeof *update);
        optim_update(&optim, 0.1, frozen, small.weights, small.gradient, update);
        for (size_t i = 0; i < small.net.size; i++)
            assert_true(update[i] == 0);
        numbers_fill(5, small.net.size, small.gradient);
        optim_update(&optim, 0.1, frozen, small.weights, small.gradient, update);
        for (size_t i = 0; i < small.net.size; i++)
            assert_true(isfinite(update[i]) && update[i] != 0);
        small_net_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_pytorch),
        cmocka_unit_test(frozen_blocks_stand_still),
        cmocka_unit_test(tensors_of_zero_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* AdamP against the authors' published algorithm, written again tensor by tensor in PyTorch's layout, in double. */
#include "small_net.h"

#include "bnsweep/core/optim.h"

enum { STEPS = 10, MOST = 1000 };

static const double delta = 0.1, ratio = 0.1;
static const struct optim_config config = {.kind = OPTIM_ADAMP, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.2};

/* One tensor as rows[out][in]. */
struct tensor {
    size_t out, in;
    double p[MOST], m[MOST], v[MOST], grad[MOST], perturb[MOST];
};

static int projections[3]; /* how often: per channel, per layer, not at all */

static double view_cosine(const struct tensor *t, size_t row, size_t width)
{
    double pg = 0, pp = 0, gg = 0;
    for (size_t j = row * width; j < (row + 1) * width; j++) {
        pg += t->p[j] * t->grad[j];
        pp += t->p[j] * t->p[j];
        gg += t->grad[j] * t->grad[j];
    }
    return fabs(pg) / fmax(sqrt(pp) * sqrt(gg), 1e-8);
}

/* projection() of the paper's listing: the channel view, then the layer view. Returns the factor on the decay. */
static double project(struct tensor *t)
{
    for (int view = 0; view < 2; view++) {
        size_t rows = view ? 1 : t->out, width = t->out * t->in / rows;
        double largest = 0;
        for (size_t row = 0; row < rows; row++)
            largest = numbers_larger(largest, view_cosine(t, row, width));
        if (largest >= delta / sqrt((double)width))
            continue;
        for (size_t row = 0; row < rows; row++) {
            double norm = 0, along = 0;
            for (size_t j = row * width; j < (row + 1) * width; j++)
                norm += t->p[j] * t->p[j];
            norm = sqrt(norm) + config.eps;
            for (size_t j = row * width; j < (row + 1) * width; j++)
                along += t->p[j] / norm * t->perturb[j];
            for (size_t j = row * width; j < (row + 1) * width; j++)
                t->perturb[j] -= t->p[j] / norm * along;
        }
        projections[view]++;
        return ratio;
    }
    projections[2]++;
    return 1;
}

static void published_step(struct tensor *t, bool matrix, double lr, int step)
{
    double correction1 = 1 - pow(config.beta1, step), correction2 = 1 - pow(config.beta2, step), factor = 1;
    for (size_t j = 0; j < t->out * t->in; j++) {
        t->m[j] = config.beta1 * t->m[j] + (1 - config.beta1) * t->grad[j];
        t->v[j] = config.beta2 * t->v[j] + (1 - config.beta2) * t->grad[j] * t->grad[j];
        t->perturb[j] = t->m[j] / (sqrt(t->v[j]) / sqrt(correction2) + config.eps);
    }
    if (matrix)
        factor = project(t);
    for (size_t j = 0; j < t->out * t->in; j++)
        t->p[j] = t->p[j] * (1 - lr * config.weight_decay * factor) - lr / correction1 * t->perturb[j];
}

/* Our [length][channels] is the transpose of [out][in], whatever the order inside `in`. */
static void load(const struct net_param *param, const real *from, double *to)
{
    for (size_t k = 0; k < param->length; k++)
        for (size_t c = 0; c < param->channels; c++)
            to[c * param->length + k] = (double)from[param->offset + k * param->channels + c];
}

static struct tensor tensors[NET_MAX_PARAMS];

static void as_published(void **state)
{
    (void)state;
    static const bool frozen[NET_MAX_BLOCKS + 1];
    struct net_config net = small_net_config();
    struct small_net small;
    struct optim optim;
    static double weights[MOST];
    double worst = 0;
    net.conv_bias = true;
    small_net_create(&small, &net, 6);
    assert_ok(optim_create(&optim, &config, &small.net, &small.arena));
    real *update = arena_array(&small.arena, small.net.size, sizeof *update);
    for (int i = 0; i < small.net.param_count; i++) {
        tensors[i] = (struct tensor){.out = small.net.params[i].channels, .in = small.net.params[i].length};
        load(&small.net.params[i], small.weights, tensors[i].p);
    }
    for (int step = 1; step <= STEPS; step++) {
        small_net_gradient(&small); /* orthogonal to the convolutions' weights, not to the classifier's */
        if (step > 5)
            numbers_fill((uint64_t)step, small.net.size, small.gradient); /* to no weights at all */
        optim_update(&optim, 0.01, frozen, small.weights, small.gradient, update);
        for (size_t i = 0; i < small.net.size; i++)
            small.weights[i] += update[i];
        for (int i = 0; i < small.net.param_count; i++) {
            const struct net_param *param = &small.net.params[i];
            load(param, small.gradient, tensors[i].grad);
            published_step(&tensors[i], param->kind == NET_CONV_WEIGHT || param->kind == NET_LINEAR_WEIGHT, 0.01, step);
            load(param, small.weights, weights);
            for (size_t j = 0; j < param->length * param->channels; j++)
                worst = numbers_larger(worst, fabs(weights[j] - tensors[i].p[j]));
        }
    }
    print_message("error %.2g; projected per channel %d, per layer %d, not %d times\n", worst, projections[0], projections[1],
                  projections[2]);
    assert_true(worst < (sizeof(real) == 4 ? 2e-6 : 2e-9)); /* the published norm has eps added */
    assert_true(projections[0] && projections[2]);
    small_net_free(&small);
}

/* One step from a gradient that the test has given the first convolution, against the published one. */
static void assert_published_step(struct small_net *small)
{
    static const bool frozen[NET_MAX_BLOCKS + 1];
    const struct net_param *param = &small->net.params[small->net.block[0].weight];
    static double weights[MOST];
    struct optim optim;
    assert_ok(optim_create(&optim, &config, &small->net, &small->arena));
    real *update = arena_array(&small->arena, small->net.size, sizeof *update);
    tensors[0] = (struct tensor){.out = param->channels, .in = param->length};
    load(param, small->weights, tensors[0].p);
    load(param, small->gradient, tensors[0].grad);
    memset(projections, 0, sizeof projections);
    published_step(&tensors[0], true, 0.01, 1);
    optim_update(&optim, 0.01, frozen, small->weights, small->gradient, update);
    for (size_t i = 0; i < small->net.size; i++)
        small->weights[i] += update[i];
    load(param, small->weights, weights);
    for (size_t j = 0; j < param->length * param->channels; j++)
        assert_near(weights[j], tensors[0].p[j], sizeof(real) == 4 ? 1e-7 : 1e-9);
}

/* gradient -= its part along the weights, for `count` values `stride` apart, and a cosine of about `cosine` in its place. */
static void set_cosine(real *gradient, const real *weights, size_t count, size_t stride, double cosine)
{
    double wg = 0, ww = 0, gg = 0;
    for (size_t i = 0; i < count; i++) {
        wg += (double)weights[i * stride] * (double)gradient[i * stride];
        ww += (double)weights[i * stride] * (double)weights[i * stride];
        gg += (double)gradient[i * stride] * (double)gradient[i * stride];
    }
    for (size_t i = 0; i < count; i++)
        gradient[i * stride] += (real)((cosine * sqrt(gg / ww) - wg / ww) * (double)weights[i * stride]);
}

/* A gradient that is orthogonal to the tensor but not to its channels: the layer view. */
static void as_published_in_the_layer_view(void **state)
{
    (void)state;
    struct net_config net = small_net_config();
    struct small_net small;
    small_net_create(&small, &net, 2);
    const struct net_param *param = &small.net.params[small.net.block[0].weight];
    numbers_fill(3, small.net.size, small.gradient);
    set_cosine(small.gradient + param->offset, small.weights + param->offset, param->length * param->channels, 1, 0);
    assert_published_step(&small);
    assert_true(projections[0] == 0 && projections[1] == 1);
    small_net_free(&small);
}

/* The limit is delta / sqrt(18) = 0.0236 per channel: cosines just below it are projected, just above it are not. */
static void the_limit_shrinks_with_the_length(void **state)
{
    (void)state;
    for (int above = 0; above <= 1; above++) {
        struct net_config net = small_net_config();
        struct small_net small;
        small_net_create(&small, &net, 2);
        const struct net_param *param = &small.net.params[small.net.block[0].weight];
        assert_int_equal(param->length, 18);
        numbers_fill(4, small.net.size, small.gradient);
        for (size_t c = 0; c < param->channels; c++) {
            real *gradient = small.gradient + param->offset + c;
            set_cosine(gradient, small.weights + param->offset + c, param->length, param->channels, 0);
            set_cosine(gradient, small.weights + param->offset + c, param->length, param->channels, above ? 0.0245 : 0.0225);
        }
        assert_published_step(&small);
        assert_true(projections[0] == !above);
        small_net_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_published),
        cmocka_unit_test(as_published_in_the_layer_view),
        cmocka_unit_test(the_limit_shrinks_with_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

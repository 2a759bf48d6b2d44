#include "bnsweep/core/optim.h"

#include "bnsweep/core/channels.h"
#include "bnsweep/core/elementary.h"

#include <math.h>
#include <string.h>

#define ADAMP_DELTA 0.1
#define ADAMP_DECAY_RATIO 0.1

/* One tensor's part of every vector. */
struct slice {
    size_t length, channels;
    const real *w, *g;
    real *u, *first, *second;
};

enum status optim_create(struct optim *optim, const struct optim_config *config, const struct net *net, struct arena *arena)
{
    *optim = (struct optim){.config = *config, .net = net};
    size_t widest = 1;
    for (int i = 0; i < net->param_count; i++)
        widest = net->params[i].channels > widest ? net->params[i].channels : widest;
    optim->first = arena_array(arena, net->size, sizeof(real));
    bool complete = optim->first;
    if (config->kind != OPTIM_SGD) {
        optim->second = arena_array(arena, net->size, sizeof(real));
        complete = complete && optim->second;
    }
    for (int i = 0; i < 4; i++) {
        optim->dots[i] = arena_array(arena, widest, sizeof(double));
        complete = complete && optim->dots[i];
    }
    return complete ? STATUS_OK : STATUS_NOMEM;
}

static void update_sgd(const struct optim_config *config, double rate, const struct slice *s)
{
    real decay = (real)config->weight_decay, momentum = (real)config->momentum, minus_rate = (real)-rate;
    for (size_t i = 0; i < s->length * s->channels; i++) {
        real g = s->g[i] + decay * s->w[i];
        s->first[i] = momentum * s->first[i] + g;
        s->u[i] = minus_rate * (config->nesterov ? g + momentum * s->first[i] : s->first[i]);
    }
}

/* u = m / (sqrt(v)/sqrt(c2) + eps): Adam's direction, before the rate. */
static void adam_direction(const struct optim *optim, double l2, const struct slice *s)
{
    const struct optim_config *config = &optim->config;
    real beta1 = (real)config->beta1, beta2 = (real)config->beta2, eps = (real)config->eps, decay = (real)l2;
    real rest1 = (real)(1 - config->beta1), rest2 = (real)(1 - config->beta2);
    real root = (real)sqrt(1 - elementary_power(config->beta2, optim->step));
    for (size_t i = 0; i < s->length * s->channels; i++) {
        real g = s->g[i] + decay * s->w[i];
        s->first[i] = beta1 * s->first[i] + rest1 * g;
        s->second[i] = beta2 * s->second[i] + rest2 * g * g;
#ifdef BNSWEEP_DOUBLE
        s->u[i] = s->first[i] / (sqrt(s->second[i]) / root + eps);
#else
        s->u[i] = s->first[i] / (sqrtf(s->second[i]) / root + eps);
#endif
    }
}

/* u -= (u.w / w.w) w for each column; columns of zero weights stay. */
static void project_columns(double *const dots[4], const struct slice *s)
{
    channels_dot(s->length, s->channels, s->u, s->w, dots[0]);
    channels_dot(s->length, s->channels, s->w, s->w, dots[1]);
    for (size_t c = 0; c < s->channels; c++)
        dots[0][c] = dots[1][c] > 0 ? dots[0][c] / dots[1][c] : 0;
    for (size_t k = 0; k < s->length; k++)
        for (size_t c = 0; c < s->channels; c++) {
            size_t i = k * s->channels + c;
            s->u[i] = (real)((double)s->u[i] - dots[0][c] * (double)s->w[i]);
        }
}

/* The same with the whole tensor as one vector. */
static void project_whole(const struct slice *s)
{
    struct slice whole = *s;
    double dots[2][1], *pointers[4] = {dots[0], dots[1], NULL, NULL};
    whole.length = s->length * s->channels;
    whole.channels = 1;
    project_columns(pointers, &whole);
}

static double cosine(double dot, double square_a, double square_b)
{
    return square_a > 0 && square_b > 0 ? fabs(dot) / sqrt(square_a * square_b) : 0;
}

/* AdamP's test: project per channel where every channel's |cos(g, w)| is below delta/sqrt(length), otherwise the tensor as one
 * vector by the same test. Returns the factor on the decay. */
static double adamp_project(double *const dots[4], const struct slice *s)
{
    double largest = 0, dot = 0, square_g = 0, square_w = 0;
    channels_dot(s->length, s->channels, s->g, s->w, dots[0]);
    channels_dot(s->length, s->channels, s->g, s->g, dots[2]);
    channels_dot(s->length, s->channels, s->w, s->w, dots[3]);
    for (size_t c = 0; c < s->channels; c++) {
        largest = fmax(largest, cosine(dots[0][c], dots[2][c], dots[3][c]));
        dot += dots[0][c];
        square_g += dots[2][c];
        square_w += dots[3][c];
    }
    if (largest < ADAMP_DELTA / sqrt((double)s->length)) {
        project_columns(dots, s);
        return ADAMP_DECAY_RATIO;
    }
    if (cosine(dot, square_g, square_w) < ADAMP_DELTA / sqrt((double)(s->length * s->channels))) {
        project_whole(s);
        return ADAMP_DECAY_RATIO;
    }
    return 1;
}

static void update_adam(const struct optim *optim, double rate, bool matrix, const struct slice *s)
{
    const struct optim_config *config = &optim->config;
    adam_direction(optim, config->kind == OPTIM_ADAM ? config->weight_decay : 0, s);
    double decay = config->kind == OPTIM_ADAM ? 0 : rate * config->weight_decay;
    if (config->kind == OPTIM_ADAMP && matrix)
        decay *= adamp_project(optim->dots, s);
    real minus_step = (real)(-rate / (1 - elementary_power(config->beta1, optim->step))), minus_decay = (real)-decay;
    for (size_t i = 0; i < s->length * s->channels; i++)
        s->u[i] = minus_decay * s->w[i] + minus_step * s->u[i];
}

void optim_update(struct optim *optim, double rate, const bool *frozen, const real *weights, const real *gradient, real *update)
{
    optim->step++;
    optim->rate = rate;
    for (int i = 0; i < optim->net->param_count; i++) {
        const struct net_param *param = &optim->net->params[i];
        struct slice s = {param->length, param->channels, weights + param->offset, gradient + param->offset,
                          update + param->offset, optim->first + param->offset,
                          optim->second ? optim->second + param->offset : NULL};
        if (frozen[param->block]) {
            memset(s.u, 0, s.length * s.channels * sizeof(real));
            continue;
        }
        if (optim->config.kind == OPTIM_SGD)
            update_sgd(&optim->config, rate, &s);
        else
            update_adam(optim, rate, param->kind == NET_CONV_WEIGHT || param->kind == NET_LINEAR_WEIGHT, &s);
        if (optim->config.project && param->kind == NET_CONV_WEIGHT)
            project_columns(optim->dots, &s);
    }
}

#include "bnsweep/core/init.h"

#include "bnsweep/core/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Inputs to one output of the layer that the tensor belongs to. */
static size_t fan_in(const struct net *net, const struct net_param *param)
{
    return param->kind == NET_CONV_WEIGHT || param->kind == NET_CONV_BIAS ? CONV_TAPS * net->block[param->block].conv.cin
                                                                          : net->features;
}

static void fill_uniform(struct rng_stream stream, double bound, size_t count, real *out)
{
    float chunk[256];
    enum { CHUNK = sizeof chunk / sizeof *chunk };
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t here = count - at < CHUNK ? count - at : CHUNK;
        rng_uniform(stream, -bound, bound, at, here, chunk);
        for (size_t i = 0; i < here; i++)
            out[at + i] = (real)chunk[i];
    }
}

void init_default(const struct net *net, uint32_t seed, real *weights)
{
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        size_t count = param->length * param->channels;
        real *values = weights + param->offset;
        if (param->kind == NET_NORM_WEIGHT || param->kind == NET_NORM_BIAS) {
            for (size_t j = 0; j < count; j++)
                values[j] = param->kind == NET_NORM_WEIGHT;
            continue;
        }
        struct rng_stream stream = {seed, RNG_INIT, (uint64_t)i};
        fill_uniform(stream, 1 / sqrt((double)fan_in(net, param)), count, values);
    }
}

void init_running(const struct net *net, real *running_mean, real *running_var)
{
    for (size_t c = 0; c < net->channels; c++) {
        running_mean[c] = 0;
        running_var[c] = 1;
    }
}

static enum status check_tensor(const struct init_tensor *tensor, int rank, const size_t shape[4], bool variance)
{
    size_t count = 1;
    bool fits = tensor->rank == rank;
    for (int i = 0; i < rank; i++) {
        fits = fits && tensor->shape[i] == shape[i];
        count *= shape[i];
    }
    if (!fits) {
        char found[128] = "", wanted[128] = "";
        for (int i = 0, at = 0; i < tensor->rank && i < 4; i++)
            at += snprintf(found + at, sizeof found - (size_t)at, i ? ", %zu" : "%zu", tensor->shape[i]);
        for (int i = 0, at = 0; i < rank; i++)
            at += snprintf(wanted + at, sizeof wanted - (size_t)at, i ? ", %zu" : "%zu", shape[i]);
        return status_fail(STATUS_INPUT, "tensor '%s' has shape [%s], the network needs [%s]", tensor->name, found, wanted);
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(tensor->values[i]) || (variance && tensor->values[i] < 0))
            return status_fail(STATUS_INPUT, "tensor '%s' holds %g at position %zu", tensor->name, (double)tensor->values[i], i);
    return STATUS_OK;
}

static enum status set_param(const struct net *net, const struct net_param *param, const struct init_tensor *tensor, real *weights)
{
    size_t out = param->channels, in = param->length;
    size_t conv_shape[4] = {out, in / CONV_TAPS, 3, 3}, matrix[4] = {out, in}, vector[4] = {out};
    bool conv = param->kind == NET_CONV_WEIGHT, linear = param->kind == NET_LINEAR_WEIGHT;
    enum status status = check_tensor(tensor, conv ? 4 : linear ? 2 : 1, conv ? conv_shape : linear ? matrix : vector, false);
    if (status)
        return status;
    real *values = weights + param->offset;
    if (conv) {
        conv_weights_from_torch(net->block[param->block].conv.cin, out, tensor->values, values);
        return STATUS_OK;
    }
    for (size_t o = 0; o < out; o++)
        for (size_t i = 0; i < in; i++)
            values[i * out + o] = (real)tensor->values[o * in + i];
    return STATUS_OK;
}

/* Take normN.running_mean or normN.running_var; STATUS_INPUT where the name is neither. */
static enum status set_running(const struct net *net, const struct init_tensor *tensor, real *running_mean, real *running_var)
{
    for (size_t i = 0; net_has_running(net) && i < net->config.blocks; i++) {
        char mean[NET_NAME_SIZE + 8], var[NET_NAME_SIZE + 8];
        snprintf(mean, sizeof mean, "norm%zu.running_mean", i + 1);
        snprintf(var, sizeof var, "norm%zu.running_var", i + 1);
        bool variance = strcmp(tensor->name, var) == 0;
        if (!variance && strcmp(tensor->name, mean) != 0)
            continue;
        size_t shape[4] = {net->block[i].conv.cout};
        enum status status = check_tensor(tensor, 1, shape, variance);
        for (size_t c = 0; !status && c < shape[0]; c++)
            (variance ? running_var : running_mean)[net->block[i].first_channel + c] = (real)tensor->values[c];
        return status;
    }
    return status_fail(STATUS_INPUT, "tensor '%s' is not one of this network", tensor->name);
}

enum status init_tensors(const struct net *net, size_t count, const struct init_tensor *tensors, real *weights,
                         real *running_mean, real *running_var)
{
    bool given[NET_MAX_PARAMS] = {false};
    for (size_t t = 0; t < count; t++) {
        int i = net_find_param(net, tensors[t].name);
        enum status status = i >= 0 ? set_param(net, &net->params[i], &tensors[t], weights)
                                    : set_running(net, &tensors[t], running_mean, running_var);
        if (status)
            return status;
        if (i >= 0)
            given[i] = true;
    }
    for (int i = 0; i < net->param_count; i++)
        if (!given[i] && net->params[i].kind != NET_NORM_WEIGHT && net->params[i].kind != NET_NORM_BIAS)
            return status_fail(STATUS_INPUT, "tensor '%s' is missing", net->params[i].name);
    return STATUS_OK;
}

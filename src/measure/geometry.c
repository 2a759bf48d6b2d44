#include "bnsweep/measure/geometry.h"

#include "bnsweep/core/channels.h"
#include "bnsweep/core/elementary.h"

#include <math.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)

static const struct net_param *conv_param(const struct net *net, size_t block)
{
    return &net->params[net->block[block].weight];
}

size_t geometry_conv_size(const struct net *net)
{
    size_t size = 0;
    for (size_t i = 0; i < net->config.blocks; i++)
        size += conv_param(net, i)->length * conv_param(net, i)->channels;
    return size;
}

void geometry_conv_copy(const struct net *net, const real *weights, real *out)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct net_param *param = conv_param(net, i);
        size_t size = param->length * param->channels;
        memcpy(out, weights + param->offset, size * sizeof(real));
        out += size;
    }
}

void geometry_norm(const struct net *net, const real *weights, double *norm)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct net_param *param = conv_param(net, i);
        double *out = norm + net->block[i].first_channel;
        channels_dot(param->length, param->channels, weights + param->offset, weights + param->offset, out);
        for (size_t c = 0; c < param->channels; c++)
            out[c] = sqrt(out[c]);
    }
}

static void cosine_columns(size_t length, size_t channels, const real *v, const real *w, double *out)
{
    for (size_t c = 0; c < channels; c++) {
        double vw = 0, vv = 0, ww = 0;
        for (size_t i = c; i < length * channels; i += channels) {
            vw += (double)v[i] * (double)w[i];
            vv += (double)v[i] * (double)v[i];
            ww += (double)w[i] * (double)w[i];
        }
        out[c] = vv > 0 && ww > 0 ? vw / (sqrt(vv) * sqrt(ww)) : NAN;
    }
}

void geometry_cosine(const struct net *net, const real *vector, const real *weights, double *cosine)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct net_param *param = conv_param(net, i);
        cosine_columns(param->length, param->channels, vector + param->offset, weights + param->offset,
                       cosine + net->block[i].first_channel);
    }
}

/* Degrees between column c of a and of b. */
static double angle_column(size_t length, size_t channels, size_t c, const real *a, const real *b)
{
    double aa = 0, bb = 0, minus = 0, plus = 0;
    for (size_t i = c; i < length * channels; i += channels) {
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    if (!(aa > 0 && bb > 0))
        return NAN;
    double unit_a = 1 / sqrt(aa), unit_b = 1 / sqrt(bb);
    for (size_t i = c; i < length * channels; i += channels) {
        double x = (double)a[i] * unit_a, y = (double)b[i] * unit_b;
        minus += (x - y) * (x - y);
        plus += (x + y) * (x + y);
    }
    return 2 * elementary_atan2(sqrt(minus), sqrt(plus)) * DEGREES;
}

void geometry_angle(const struct net *net, const real *weights, const real *then, double *angle)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct net_param *param = conv_param(net, i);
        for (size_t c = 0; c < param->channels; c++)
            angle[net->block[i].first_channel + c] =
                angle_column(param->length, param->channels, c, weights + param->offset, then);
        then += param->length * param->channels;
    }
}

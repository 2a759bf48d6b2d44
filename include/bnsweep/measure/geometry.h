/* The geometry of the convolutions' weight vectors, one vector an output channel: what the loss can and cannot see of them.
 * Outputs are [net->channels] in double; vectors of all parameters are [net->size]. */
#ifndef BNSWEEP_MEASURE_GEOMETRY_H
#define BNSWEEP_MEASURE_GEOMETRY_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/real.h"

/* Return how many values the convolutions' weights have together, and copy them out of all parameters: out[that many]. */
size_t geometry_conv_size(const struct net *net);
void geometry_conv_copy(const struct net *net, const real *weights, real *out);

/* norm = L2 norm of each channel's weights. */
void geometry_norm(const struct net *net, const real *weights, double *norm);

/* cosine = cosine between each channel's part of `vector` (an update, a gradient) and its weights; NaN where either is 0. */
void geometry_cosine(const struct net *net, const real *vector, const real *weights, double *cosine);

/* angle = degrees between each channel's weights now and in `then` (as geometry_conv_copy made it):
 * 2 atan2(|a/|a| - b/|b||, |a/|a| + b/|b||), exact at small angles (Kahan 2006). NaN where either is 0. */
void geometry_angle(const struct net *net, const real *weights, const real *then, double *angle);

#endif

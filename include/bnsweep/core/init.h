/* Initial weights: PyTorch's default distributions, or tensors in PyTorch's layouts. */
#ifndef BNSWEEP_CORE_INIT_H
#define BNSWEEP_CORE_INIT_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/real.h"

#include <stddef.h>
#include <stdint.h>

/* A tensor by PyTorch's name and layout: convN.weight [out][in][3][3], convN.bias, normN.weight, normN.bias,
 * normN.running_mean, normN.running_var [out], linear.weight [classes][in], linear.bias [classes]. Nothing is owned. */
struct init_tensor {
    const char *name;
    int rank;
    size_t shape[4];
    const float *values;
};

/* Fill weights[net->size]: convolutions and the classifier Kaiming-uniform with a = sqrt 5, that is within 1/sqrt(fan_in), their
 * biases within 1/sqrt(fan_in), norm weights 1 and biases 0. Depends on seed and tensor alone. */
void init_default(const struct net *net, uint32_t seed, real *weights);

/* Set running_mean[net->channels] to 0 and running_var to 1. */
void init_running(const struct net *net, real *running_mean, real *running_var);

/* Overwrite what the tensors name; all convolutions and the classifier must be there, the norm layers' tensors need not be.
 * STATUS_INPUT naming the tensor: missing, not of this network, of another shape, with a value that is not finite, or a
 * running variance below 0. */
enum status init_tensors(const struct net *net, size_t count, const struct init_tensor *tensors, real *weights,
                         real *running_mean, real *running_var);

#endif

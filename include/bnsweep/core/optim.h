/* Optimizers: form the whole update of every parameter from its gradient, as PyTorch 1.13 does; the caller adds it.
 *
 *   sgd    g += wd w; buf = momentum buf + g; u = -lr buf, or -lr (g + momentum buf) with nesterov
 *   adam   g += wd w; m, v averages with bias corrections c1, c2; u = -(lr/c1) m / (sqrt(v)/sqrt(c2) + eps)   (Kingma and Ba 2015)
 *   adamw  the same without wd in g; u -= lr wd w                                                   (Loshchilov and Hutter 2019)
 *   adamp  adam's direction with its radial part removed where the gradient is nearly orthogonal to the weights, there with
 *          a tenth of the decay; decoupled decay. delta 0.1, wd_ratio 0.1                                      (Heo et al. 2021;
 *          the paper's exact projection and cosine: its code adds the optimizer's eps to the norms in both)
 * `project` then removes from each convolution channel's u its part along the weights: u -= (u.w^) w^, w^ = w/|w|. */
#ifndef BNSWEEP_CORE_OPTIM_H
#define BNSWEEP_CORE_OPTIM_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/kinds.h"
#include "bnsweep/core/net.h"
#include "bnsweep/core/real.h"

#include <stdbool.h>
#include <stdint.h>

struct optim_config {
    enum optim_kind kind;
    double momentum; /* sgd */
    bool nesterov;
    double beta1, beta2, eps; /* adam, adamw, adamp */
    double weight_decay;
    bool project;
};

struct optim {
    struct optim_config config;
    const struct net *net; /* not owned */
    uint64_t step;         /* updates formed so far */
    double rate;           /* learning rate of the last one; 0 before it */
    real *first, *second;  /* [net->size] buf or m, and v; owned by the arena; second is NULL for sgd */
    double *dots[4];       /* workspace, [largest number of channels] */
};

/* Make an optimizer in its initial state. STATUS_NOMEM. */
enum status optim_create(struct optim *optim, const struct optim_config *config, const struct net *net, struct arena *arena);

/* Form update[net->size] for weights and gradient [net->size] at learning rate `rate` and count the step.
 * Tensors of frozen blocks (frozen[blocks + 1], the last one the classifier) get an update of 0 and keep their state. */
void optim_update(struct optim *optim, double rate, const bool *frozen, const real *weights, const real *gradient, real *update);

#endif

/* Forward passes layer by layer, with im2row and a BLAS: the reference. core/infer.h is its interface to the rest. */
#ifndef BNSWEEP_CORE_PLAIN_INFER_H
#define BNSWEEP_CORE_PLAIN_INFER_H

#include "bnsweep/core/infer.h"

/* Workspace for at most INFER_CHUNK images, owned by the arena. */
struct plain_infer {
    const struct net *net;             /* not owned */
    real *z, *out;                     /* after a convolution, and after a pool */
    double *group_mean, *group_invstd;
    real *workspace;
    struct moments moments[NET_MAX_BLOCKS];
};

/* STATUS_NOMEM. */
enum status plain_infer_create(struct plain_infer *plain, const struct net *net, struct arena *arena);

/* Add what block `target`'s convolution makes of x[n] to its moments; the blocks before it normalise with `transform`. */
void plain_infer_moments(struct plain_infer *plain, const real *weights, size_t target, size_t n, const real *x,
                         const struct batchnorm_transform *transform);

/* features[count][INFER_CHUNK][net->features] of x[n], normalised with each of the transforms. */
void plain_infer_features(struct plain_infer *plain, const real *weights, size_t n, const real *x, size_t count,
                          const struct batchnorm_transform *const *transforms, real *features);

#endif

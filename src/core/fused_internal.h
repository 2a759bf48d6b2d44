/* What the two halves of the fused training pass share. */
#ifndef BNSWEEP_CORE_FUSED_INTERNAL_H
#define BNSWEEP_CORE_FUSED_INTERNAL_H

#include "bnsweep/core/fused.h"

/* Return the size of what a block lets through, with its channels padded to `channels`. */
struct block_size fused_out_size(const struct net *net, size_t index, size_t channels);

/* Ask for what images next .. next + n, as far as there are any, will need of array[fused->n][size]. */
void fused_expect(struct fused *fused, const real *array, size_t size, size_t next, size_t n);

/* Return the input [n][h+2][w+2][cin] of images first .. first + n of a block, from the images x or from what the block before it lets
 * through; it is there until the next call. Made anew for the backward pass: that moves fewer bytes than keeping it. */
const real *fused_input(struct fused *fused, size_t index, size_t first, size_t n, const real *x);

#endif

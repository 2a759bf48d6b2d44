/* Per-channel mean and variance of [rows][channels], accumulated over any number of calls without cancellation.
 *
 * Each call is cut into tiles; within one, deviations from the tile's first row are summed, so that a large mean with a small
 * spread loses nothing; tiles are merged as Chan, Golub and LeVeque (1979) do. The result depends on the rows, their order and
 * the calls' sizes alone: never on running statistics, so that it is the same whatever BN momenta run beside it.
 */
#ifndef BNSWEEP_CORE_MOMENTS_H
#define BNSWEEP_CORE_MOMENTS_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/real.h"

#include <stddef.h>

struct moments {
    size_t channels;
    double count;              /* rows so far */
    double *mean, *deviations; /* [channels]; sum of squared deviations from the mean. Owned by the arena */
    double *tile_sum, *tile_square;
    real *part_sum, *part_square;
};

/* Make empty moments of `channels` channels, owned by the arena. STATUS_NOMEM. */
enum status moments_create(struct moments *moments, size_t channels, struct arena *arena);

/* Forget all rows. */
void moments_reset(struct moments *moments);

/* Add x[rows][channels]. */
void moments_add(struct moments *moments, size_t rows, const real *x);

/* What sums a tile: sum and square [channels] += the sums of x[rows][channels] - x[0] and of its square. */
typedef void moments_deviations(size_t rows, size_t channels, const real *x, double *sum, double *square);

/* Add x[rows][channels], the tiles summed by a kernel. */
void moments_add_with(struct moments *moments, moments_deviations *deviations, size_t rows, const real *x);

/* variance[channels] = deviations / count (biased, the one that normalises a batch). */
void moments_variance(const struct moments *moments, double *variance);

#endif

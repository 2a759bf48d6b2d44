/* Which trajectories need no training, since the store keeps the batch statistics of another unit of theirs. */
#ifndef BNSWEEP_CLI_SOURCES_H
#define BNSWEEP_CLI_SOURCES_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/grouping.h"

#include <stdint.h>

/* Zero-initialise; free with sources_free. */
struct sources {
    uint64_t *rows;     /* [grouping->count] the row that each is to be replayed from; UINT64_MAX: it is to be trained */
    size_t found;       /* trajectories that are replayed */
    char refusal[1024]; /* why none is replayed although the store keeps batch statistics; else "" */
};

/* Look in the store at `path`, as published, for each trajectory of the grouping. A store that keeps none, or is not there, has none.
 * STATUS_NOMEM; errors of reading. */
enum status sources_find(const char *path, const struct sweep *sweep, const struct grouping *grouping, struct sources *out);
void sources_free(struct sources *sources);

#endif

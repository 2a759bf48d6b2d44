/* What writer_open would find, without touching anything: no lock is taken and no file made. */
#ifndef BNSWEEP_STORE_PREVIEW_H
#define BNSWEEP_STORE_PREVIEW_H

#include "bnsweep/store/writer.h"

#include <limits.h>

struct preview {
    char path[PATH_MAX]; /* the store's, with links resolved */
    bool exists;
    uint64_t bytes;      /* of the published file */
    uint64_t rows;       /* units in the store: a unit whose row is not below this is new */
    uint64_t extra[UNIT_STATUS_COUNT]; /* units of the store that are not among the given ones, by state; they stay */
};

/* Look at the store at `path` as a run with this layout and these units would.
 * `out_units` [units->count] receives where each unit is or would be, and how it stands with what the journal holds; one that a
 * run is at, or was when it ended without a word, is running. The errors are those of writer_open, except for the lock. */
enum status preview_store(const char *path, const struct layout *layout, const struct writer_units *units,
                          struct writer_unit *out_units, struct preview *out);

#endif

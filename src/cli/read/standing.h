/* How the units of a store stand at this moment, with what the journal holds beyond it. */
#ifndef BNSWEEP_CLI_STANDING_H
#define BNSWEEP_CLI_STANDING_H

#include "bnsweep/base/status.h"
#include "bnsweep/store/lock_note.h"
#include "bnsweep/store/reader_unit.h"

/* A unit worth naming: running, diverged or failed. */
struct standing_unit {
    struct reader_unit unit;     /* its texts are owned */
    double bn_momentum, seed;    /* NaN: not read */
};

/* Zero-initialise; free with standing_free. */
struct standing {
    uint64_t units, in_state[UNIT_STATUS_COUNT], attempts, restarted; /* restarted: units with more than one attempt */
    uint64_t checks; /* a unit is to have, at most */
    struct reader_journal journal;
    struct lock_note writer;
    struct standing_unit *named; /* [named_count] owned, by row */
    size_t named_count, named_capacity;
};

/* Read how the store at `path` stands; does not disturb its writer. The caller frees `out` also on failure.
 * Errors as reader_open; STATUS_CORRUPT, STATUS_NOMEM. */
enum status standing_read(const char *path, struct standing *out);

void standing_free(struct standing *standing);

#endif

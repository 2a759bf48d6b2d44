/* Reads a whole store and says what is wrong with it. */
#ifndef BNSWEEP_STORE_VERIFY_H
#define BNSWEEP_STORE_VERIFY_H

#include "bnsweep/store/reader.h"

struct verify_report {
    uint64_t rows, units[UNIT_STATUS_COUNT]; /* all; in each state */
    uint64_t variables, bytes;               /* read in full, with their checksums */
    uint64_t missing_checks;                 /* in units that are done */
    uint64_t incomplete_units;               /* done, but with missing checks */
    uint64_t problems;                       /* how often `problem` was called */
    struct reader_journal journal;
};

/* Check the store at `path` and its journal: every variable has its axes and each axis its coordinate, every chunk's checksum is
 * right, every done unit has all its checks, and what is to be kept for replays is there once a trajectory. Each finding is given to
 * `problem` (NULL: only counted).
 * STATUS_OK, STATUS_MISMATCH (there were findings), or why the store cannot be read at all. */
enum status verify_store(const char *path, void (*problem)(void *context, const char *text), void *context,
                         struct verify_report *out);

#endif

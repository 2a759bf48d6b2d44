/* What a store keeps of one unit's trajectory, as the source of a replay. */
#ifndef BNSWEEP_CLI_KEPT_H
#define BNSWEEP_CLI_KEPT_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/run/replay.h"
#include "bnsweep/store/reader.h"

/* Zero-initialise; free with kept_close. */
struct kept {
    struct reader *reader;
    uint64_t row;
    enum unit_status status;
    uint64_t steps;
    struct hash weights_init, weights; /* at step 0 and at the end */
};

/* Return whether the unit in `row` has ended and kept its batch statistics, looking at the first and the last step alone: a unit that
 * was interrupted, and later replayed from another, has some. STATUS_CORRUPT, STATUS_NOMEM. */
enum status kept_there(const struct reader *reader, uint64_t row, bool *out);

/* Open the store at `path`, as published, for what the unit in `row` has kept. STATUS_MISMATCH where it has not ended or kept nothing;
 * else as reader_open. */
enum status kept_open(const char *path, uint64_t row, struct kept *out);
void kept_close(struct kept *kept);

/* Return it as a source; `kept` must outlive it. */
struct replay_source kept_source(struct kept *kept);

#endif

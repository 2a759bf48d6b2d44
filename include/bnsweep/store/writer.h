/* The writer of a store: rank 0's side. Records go to the journal and are safe once committed; from time to time a child
 * publishes them into the store file. Single-threaded; one writer a store, on all machines. */
#ifndef BNSWEEP_STORE_WRITER_H
#define BNSWEEP_STORE_WRITER_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/store/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

/* The number by which `describe` is asked for a unit's arm instead of a setting. */
#define WRITER_ARM SIZE_MAX

/* What `describe` gives: the text, owned by whom it was asked of and valid until it is asked again. */
struct writer_text {
    const char *text;
    bool again; /* known to be the text that was given for this column last */
};

/* The units that a run is about. Nothing is owned. */
struct writer_units {
    size_t count;
    const struct hash *identities; /* [count]; one identity twice is one unit */
    /* Give the text of `unit`'s value in layout column number `column` (or WRITER_ARM); called for new units only, in order. */
    enum status (*describe)(void *context, size_t unit, size_t column, struct writer_text *out);
    void *context;
};

/* What the store knows of a unit. */
struct writer_unit {
    uint64_t row;
    enum unit_status status; /* a unit that was running when the last run ended is pending */
    uint32_t attempts;
};

/* Open the store at `path` for writing: take its lock, create it or check that it fits `layout`, publish what an earlier run's
 * journal holds, add rows for the units that it does not know, and start a new journal.
 * `out_units` [units->count] receives where each unit is and how it stands. End with writer_close.
 * STATUS_LOCKED (names the holder), STATUS_INPUT (the file is something else), STATUS_CORRUPT, STATUS_VERSION (another layout:
 * names the difference), STATUS_IO, STATUS_NOMEM, or what `describe` returned. On failure the store is as it was. */
enum status writer_open(const char *path, const struct layout *layout, const struct writer_units *units,
                        struct writer_unit *out_units, struct writer **out);

/* Take a unit's record (`size` bytes of measure/record.h). It is safe, and may be acknowledged, after writer_commit.
 * An END record also makes the unit done or diverged. STATUS_CORRUPT (malformed, or not of the store's shape), STATUS_IO. */
enum status writer_record(struct writer *writer, uint64_t row, uint32_t attempt, uint64_t number, const void *bytes, size_t size);

/* Take a unit's new state. `started` in unix seconds (NaN: unknown); `host` and `reason` may be "". STATUS_IO. */
enum status writer_status(struct writer *writer, uint64_t row, enum unit_status status, uint32_t attempts, const char *host,
                          int32_t rank, double started, const char *reason);

/* Return whether something was taken that is not committed. */
bool writer_pending(const struct writer *writer);

/* Wait until all that was taken is on disk. STATUS_IO: it is not, but all that was committed before is; stop then. */
enum status writer_commit(struct writer *writer);

/* Return whether it is time to publish: something is new, no child is at it, and it was last done at least 10 s ago and long
 * enough to spend about 1% of the time on it. */
bool writer_publish_due(const struct writer *writer);

/* Commit, then start this program with arguments `argv` (NULL-ended; it is to call publish_run on the store) as a child that
 * shares the lock. The child's own exit status tells. STATUS_IO. */
enum status writer_publish_start(struct writer *writer, char *const argv[]);

/* Look after the child without waiting. `*finished` is true once after each publish_start; then STATUS_OK (what is published has left
 * the journal) or STATUS_IO (the child failed; store and journal are as before, and the next attempt is put off). */
enum status writer_publish_poll(struct writer *writer, bool *finished);

/* Return the store's path with links resolved, owned by the writer. */
const char *writer_path(const struct writer *writer);

/* Wait for the child, publish the rest, remove the empty journal, unlock, free. On failure (STATUS_IO ...) all that was committed
 * stays in the journal for the next run; the writer is freed in any case. NULL is allowed. */
enum status writer_close(struct writer *writer);

#endif

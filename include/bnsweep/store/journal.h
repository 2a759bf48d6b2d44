/* The journal STORE.journal: what was measured since the store was last published, safe on disk before it is acknowledged.
 *
 * File: a header (magic "bnsweepJ", u32 version, u32 0, the store's identity as two u64, u64 sequence number of the first entry,
 * u64 checksum), then entries (u32 payload length, u64 sequence number, u64 sequence number of the first entry of its commit,
 * u64 checksum of all that, payload). All little-endian; the checksum is XXH3. Sequence numbers rise by one.
 * The commit's number tells a torn commit (never acknowledged: cut) from damage to an acknowledged one (an error): the disk
 * may keep a torn commit's last page and lose its first, but a later commit was written only after this one was safe. */
#ifndef BNSWEEP_STORE_JOURNAL_H
#define BNSWEEP_STORE_JOURNAL_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/pack.h"
#include "bnsweep/base/status.h"
#include "bnsweep/store/layout.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    JOURNAL_VERSION = 1,
    JOURNAL_HEADER_SIZE = 48,
    JOURNAL_ENTRY_HEAD = 28,
    JOURNAL_MAX_PAYLOAD = 1 << 27,
    JOURNAL_HOST_SIZE = 256,
    JOURNAL_REASON_SIZE = 1024
};

/* X(NAME, number, text): the numbers are stored. */
#define JOURNAL_KINDS(X)     \
    X(RECORD, 1, "record")   \
    X(STATUS, 2, "status")

enum journal_kind {
#define X(name, number, text) JOURNAL_##name = number,
    JOURNAL_KINDS(X)
#undef X
};

struct journal_entry {
    enum journal_kind kind;
    uint64_t row;
    /* RECORD: one record (measure/record.h) as it came. */
    uint32_t attempt;
    uint64_t number;
    const uint8_t *bytes; /* not owned; from a reader: valid until its next call */
    size_t size;
    /* STATUS */
    enum unit_status status;
    uint32_t attempts;
    int32_t rank;
    double started; /* unix seconds, NaN where unknown */
    char host[JOURNAL_HOST_SIZE], reason[JOURNAL_REASON_SIZE];
    /* Set by a reader. */
    uint64_t sequence, offset;
};

/* The writing end. */
struct journal {
    int fd; /* -1: closed */
    char path[PATH_MAX];
    struct hash store;
    uint64_t next;       /* sequence number of the next entry */
    uint64_t size;       /* bytes committed */
    uint64_t first;      /* sequence number of the first entry in the file */
    uint64_t commit;     /* sequence number of the first pending entry */
    struct pack pending; /* appended, not committed */
    bool failed;         /* a commit or a restart failed: nothing more is taken */
    char cause[512];     /* how */
};

/* A place between two commits. */
struct journal_mark {
    uint64_t offset, sequence; /* of the entry that comes next */
};

/* Make an empty journal at `path`, in place of one that is there, for entries from sequence number `first` on. STATUS_IO. */
enum status journal_create(const char *path, struct hash store, uint64_t first, struct journal *out);

/* Buffer an entry; its strings are cut to fit. STATUS_IO after a failed commit, STATUS_NOMEM. */
enum status journal_append(struct journal *journal, const struct journal_entry *entry);

/* Write all pending entries and wait until they are on disk: afterwards they may be acknowledged.
 * STATUS_IO (also where the file was removed or moved away): none of them is in the file, what was committed before is, and the
 * journal takes nothing more. */
enum status journal_commit(struct journal *journal);

/* Return the place after the last commit. */
struct journal_mark journal_mark(const struct journal *journal);

/* Start a new file with only the entries from `mark` on, in place of the old one. STATUS_IO: the old one is still in use, or, where it is
 * not known which of them the disk has, the journal takes nothing more; both have all that was committed. */
enum status journal_restart(struct journal *journal, struct journal_mark mark);

/* Close the file, losing pending entries. */
void journal_close(struct journal *journal);

#endif

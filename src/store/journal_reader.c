#include "bnsweep/store/journal_reader.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/base/unpack.h"
#include "journal_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read at once: in order, and at single places. */
enum { WINDOW = 1 << 20, SINGLE = 8 << 10 };

#define WAY_ON "; nothing was changed: `bnsweep repair STORE` takes all that can be read of it"

struct journal_reader {
    int fd;
    char path[PATH_MAX];
    struct hash store;
    uint64_t first, size;    /* of the file when it was opened */
    uint64_t at, expected;   /* offset and sequence number of the next entry */
    uint8_t *window;         /* owned: the bytes from window_at on */
    size_t window_size, window_capacity, ahead; /* ahead: how much to read at least, up to the capacity */
    uint64_t window_at;
};

/* What an entry's head says. */
struct head {
    uint64_t sequence, commit;
    size_t size;
    const uint8_t *payload;
};

/* Point `*bytes` to `size` bytes at `offset`, valid until the next call; NULL where the file has fewer. */
static enum status look(struct journal_reader *reader, uint64_t offset, size_t size, const uint8_t **bytes)
{
    *bytes = NULL;
    if (offset > reader->size || size > reader->size - offset)
        return STATUS_OK;
    if (offset < reader->window_at || offset + size > reader->window_at + reader->window_size) {
        if (size > reader->window_capacity) {
            uint8_t *larger = mem_array(size, 1);
            if (!larger)
                return STATUS_NOMEM;
            mem_free(reader->window);
            reader->window = larger;
            reader->window_capacity = size;
        }
        size_t ahead = reader->ahead < reader->window_capacity ? reader->ahead : reader->window_capacity;
        ssize_t got = pread(reader->fd, reader->window, size > ahead ? size : ahead, (off_t)offset);
        if (got < 0)
            return status_fail(STATUS_IO, "cannot read %s: %s", reader->path, strerror(errno));
        reader->window_at = offset;
        reader->window_size = (size_t)got;
        if ((size_t)got < size)
            return STATUS_OK;
    }
    *bytes = reader->window + (offset - reader->window_at);
    return STATUS_OK;
}

/* What is looked for: what is to come, a later commit's entry behind a damaged one, or any at all. */
enum wanted { NEXT, LATER, ANY };

/* Whether an entry with this head can be what is wanted: else its checksum, of as many as JOURNAL_MAX_PAYLOAD bytes, need not be
 * looked at. At each byte of something long that would take for ever. */
static bool is_possible(const struct journal_reader *reader, const struct head *head, enum wanted wanted)
{
    static const uint64_t MOST = (uint64_t)1 << 48; /* entries that any store ever has */
    if (head->size == 0 || head->size > JOURNAL_MAX_PAYLOAD || head->commit > head->sequence)
        return false;
    if (wanted == LATER)
        return head->commit > reader->expected && head->sequence - reader->expected <= reader->size / JOURNAL_ENTRY_HEAD;
    return wanted == NEXT || head->sequence < MOST;
}

/* Look at the entry at `offset`; `*valid` is whether it is whole, its checksum right, and it can be what is wanted. */
static enum status look_entry(struct journal_reader *reader, uint64_t offset, enum wanted wanted, struct head *head, bool *valid)
{
    const uint8_t *bytes;
    *valid = false;
    enum status status = look(reader, offset, JOURNAL_ENTRY_HEAD, &bytes);
    if (status || !bytes)
        return status;
    struct unpack unpack = {.data = bytes, .size = JOURNAL_ENTRY_HEAD};
    head->size = unpack_u32(&unpack);
    head->sequence = unpack_u64(&unpack);
    head->commit = unpack_u64(&unpack);
    uint64_t checksum = unpack_u64(&unpack);
    if (!is_possible(reader, head, wanted))
        return STATUS_OK;
    status = look(reader, offset, JOURNAL_ENTRY_HEAD + head->size, &bytes);
    if (status || !bytes)
        return status;
    head->payload = bytes + JOURNAL_ENTRY_HEAD;
    *valid = journal_checksum(bytes, head->payload, head->size) == checksum;
    return STATUS_OK;
}

static enum status read_header(struct journal_reader *reader)
{
    const uint8_t *bytes;
    enum status status = look(reader, 0, JOURNAL_HEADER_SIZE, &bytes);
    if (status)
        return status;
    if (!bytes)
        return status_fail(STATUS_CORRUPT, "%s: has %llu bytes, less than a journal's header" WAY_ON, reader->path,
                           (unsigned long long)reader->size);
    struct unpack unpack = {.data = bytes, .size = JOURNAL_HEADER_SIZE};
    if (memcmp(unpack_bytes(&unpack, JOURNAL_MAGIC_SIZE), JOURNAL_MAGIC, JOURNAL_MAGIC_SIZE) != 0)
        return status_fail(STATUS_CORRUPT, "%s: is no journal of this program" WAY_ON, reader->path);
    uint32_t version = unpack_u32(&unpack);
    unpack_u32(&unpack);
    reader->store.high = unpack_u64(&unpack);
    reader->store.low = unpack_u64(&unpack);
    reader->first = unpack_u64(&unpack);
    /* All versions have this checksum in this place: damage is told from a newer version. */
    if (unpack_u64(&unpack) != hash_checksum(bytes, JOURNAL_HEADER_CHECKED, 0))
        return status_fail(STATUS_CORRUPT, "%s: its header is damaged" WAY_ON, reader->path);
    if (version != JOURNAL_VERSION)
        return status_fail(STATUS_VERSION, "%s: is a journal of version %u, this program knows version %d", reader->path,
                           version, JOURNAL_VERSION);
    return STATUS_OK;
}

static enum status open_file(const char *path, struct journal_reader **out)
{
    struct stat now;
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STATUS_OK : status_fail(STATUS_IO, "cannot open %s: %s", path, strerror(errno));
    if (fstat(fd, &now)) {
        enum status status = status_fail(STATUS_IO, "cannot read %s: %s", path, strerror(errno));
        close(fd);
        return status;
    }
    size_t capacity = now.st_size < WINDOW ? (size_t)now.st_size : WINDOW;
    struct journal_reader *reader = mem_array(1, sizeof *reader);
    uint8_t *window = mem_array(capacity, 1);
    if (!reader || !window) {
        mem_free(reader);
        mem_free(window);
        close(fd);
        return STATUS_NOMEM;
    }
    reader->fd = fd;
    snprintf(reader->path, sizeof reader->path, "%s", path);
    reader->size = (uint64_t)now.st_size;
    reader->window = window;
    reader->window_capacity = capacity;
    reader->ahead = WINDOW;
    *out = reader;
    return STATUS_OK;
}

enum status journal_reader_open_damaged(const char *path, struct journal_reader **out, bool *damaged)
{
    *damaged = false;
    enum status status = open_file(path, out);
    if (status || !*out)
        return status;
    status = read_header(*out);
    *damaged = status == STATUS_CORRUPT;
    if (status && !*damaged) {
        journal_reader_close(*out);
        *out = NULL;
        return status;
    }
    (*out)->at = *damaged ? 0 : JOURNAL_HEADER_SIZE;
    (*out)->expected = (*out)->first;
    return STATUS_OK;
}

enum status journal_reader_open(const char *path, struct journal_reader **out)
{
    bool damaged;
    enum status status = journal_reader_open_damaged(path, out, &damaged);
    if (status || !damaged)
        return status;
    journal_reader_close(*out);
    *out = NULL;
    return STATUS_CORRUPT; /* with read_header's message */
}

struct hash journal_reader_store(const struct journal_reader *reader)
{
    return reader->store;
}

uint64_t journal_reader_first(const struct journal_reader *reader)
{
    return reader->first;
}

static enum status unpack_entry(const struct journal_reader *reader, const struct head *head, uint64_t offset,
                                struct journal_entry *entry)
{
    struct unpack unpack = {.data = head->payload, .size = head->size};
    *entry = (struct journal_entry){.sequence = head->sequence, .offset = offset};
    uint8_t kind = unpack_u8(&unpack);
    entry->kind = (enum journal_kind)kind;
    entry->row = unpack_u64(&unpack);
    if (kind == JOURNAL_RECORD) {
        entry->attempt = unpack_u32(&unpack);
        entry->number = unpack_u64(&unpack);
        entry->size = unpack.failed ? 0 : unpack.size - unpack.at;
        entry->bytes = unpack_bytes(&unpack, entry->size);
    } else if (kind == JOURNAL_STATUS) {
        uint8_t status = unpack_u8(&unpack);
        unpack.failed = unpack.failed || status >= UNIT_STATUS_COUNT;
        entry->status = (enum unit_status)status;
        entry->attempts = unpack_u32(&unpack);
        entry->rank = (int32_t)unpack_u32(&unpack);
        entry->started = unpack_f64(&unpack);
        unpack_text(&unpack, entry->host, sizeof entry->host);
        unpack_text(&unpack, entry->reason, sizeof entry->reason);
    } else {
        unpack.failed = true;
    }
    if (unpack.failed || unpack.at != unpack.size)
        return status_fail(STATUS_CORRUPT, "%s: the entry at byte %llu (kind %u, %zu bytes) makes no sense" WAY_ON, reader->path,
                           (unsigned long long)offset, kind, head->size);
    return STATUS_OK;
}

/* The entry at `at` is not valid. It is a torn tail, unless an entry of a later commit follows. */
static enum status judge_tail(struct journal_reader *reader)
{
    struct head head;
    bool valid;
    for (uint64_t offset = reader->at + 1; offset + JOURNAL_ENTRY_HEAD < reader->size; offset++) {
        enum status status = look_entry(reader, offset, LATER, &head, &valid);
        if (status)
            return status;
        if (valid)
            return status_fail(STATUS_CORRUPT,
                               "%s: the entry at byte %llu is damaged, but entry %llu at byte %llu was acknowledged after it" WAY_ON,
                               reader->path, (unsigned long long)reader->at, (unsigned long long)head.sequence,
                               (unsigned long long)offset);
    }
    return STATUS_OK;
}

enum status journal_reader_next(struct journal_reader *reader, struct journal_entry *entry, bool *more)
{
    struct head head = {0};
    bool valid;
    *more = false;
    enum status status = look_entry(reader, reader->at, NEXT, &head, &valid);
    if (status)
        return status;
    if (!valid)
        return judge_tail(reader);
    if (head.sequence != reader->expected)
        return status_fail(STATUS_CORRUPT, "%s: entry %llu at byte %llu where %llu was to come" WAY_ON, reader->path,
                           (unsigned long long)head.sequence, (unsigned long long)reader->at,
                           (unsigned long long)reader->expected);
    status = unpack_entry(reader, &head, reader->at, entry);
    if (status)
        return status;
    reader->at += JOURNAL_ENTRY_HEAD + head.size;
    reader->expected++;
    *more = true;
    return STATUS_OK;
}

enum status journal_reader_salvage(struct journal_reader *reader, struct journal_entry *entry, bool *more, uint64_t *passed)
{
    struct head head = {0};
    uint64_t start = reader->at;
    *more = false;
    for (; reader->at + JOURNAL_ENTRY_HEAD < reader->size; reader->at++) {
        bool valid;
        enum status status = look_entry(reader, reader->at, ANY, &head, &valid);
        if (status)
            return status;
        if (!valid || unpack_entry(reader, &head, reader->at, entry))
            continue;
        *more = true;
        *passed = reader->at - start;
        reader->at += JOURNAL_ENTRY_HEAD + head.size;
        return STATUS_OK;
    }
    *passed = reader->size - start;
    reader->at = reader->size;
    return STATUS_OK;
}

enum status journal_reader_at(struct journal_reader *reader, uint64_t offset, struct journal_entry *entry)
{
    struct head head = {0};
    bool valid;
    reader->ahead = SINGLE;
    enum status status = look_entry(reader, offset, NEXT, &head, &valid);
    reader->ahead = WINDOW;
    if (!status && !valid)
        status = status_fail(STATUS_CORRUPT, "%s: no entry at byte %llu", reader->path, (unsigned long long)offset);
    return status ? status : unpack_entry(reader, &head, offset, entry);
}

uint64_t journal_reader_torn(const struct journal_reader *reader, uint64_t *offset)
{
    *offset = reader->at;
    return reader->size - reader->at;
}

void journal_reader_close(struct journal_reader *reader)
{
    if (!reader)
        return;
    close(reader->fd);
    mem_free(reader->window);
    mem_free(reader);
}

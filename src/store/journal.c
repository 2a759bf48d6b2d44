#include "bnsweep/store/journal.h"

#include "bnsweep/base/mem.h"
#include "journal_internal.h"
#include "replace_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CARRY_BUFFER = 1 << 20 };

/* Write all of it at `offset`; false with errno. */
static bool write_all(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t put = pwrite(fd, bytes, size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        size -= (size_t)put;
        offset += (uint64_t)put;
    }
    return true;
}

static enum status fail_closed(const struct journal *journal)
{
    return status_fail(STATUS_IO, "%s: nothing more is written after an earlier failure (%s)", journal->path, journal->cause);
}

/* Take nothing more, because of the failure that was just reported: what is on disk is not known. */
static enum status close_for_good(struct journal *journal, enum status status)
{
    journal->failed = true;
    snprintf(journal->cause, sizeof journal->cause, "%s", status_message());
    return status;
}

static enum status write_header(int fd, const char *path, struct hash store, uint64_t first)
{
    struct pack pack = {0};
    pack_bytes(&pack, JOURNAL_MAGIC, JOURNAL_MAGIC_SIZE);
    pack_u32(&pack, JOURNAL_VERSION);
    pack_u32(&pack, 0);
    pack_u64(&pack, store.high);
    pack_u64(&pack, store.low);
    pack_u64(&pack, first);
    pack_u64(&pack, pack.failed ? 0 : hash_checksum(pack.data, pack.size, 0));
    enum status status = STATUS_OK;
    if (pack.failed)
        status = status_fail(STATUS_NOMEM, "out of memory for the journal's header");
    else if (!write_all(fd, pack.data, pack.size, 0))
        status = status_fail(STATUS_IO, "cannot write %s: %s", path, strerror(errno));
    pack_free(&pack);
    return status;
}

/* Put the new file, complete up to `size`, in the journal's place and go on in it. Where it has the name, but it is not known whether
 * the disk knows, a commit to either file could be lost: then nothing more is taken. */
static enum status adopt(struct journal *journal, struct replace *replace, uint64_t first, uint64_t size)
{
    int fd = dup(replace->fd);
    if (fd < 0) {
        replace_abort(replace);
        return status_fail(STATUS_IO, "cannot keep %s open: %s", replace->target, strerror(errno));
    }
    enum status status = replace_commit(replace);
    if (status && !replace->renamed) {
        close(fd);
        return status;
    }
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = fd;
    journal->first = first;
    journal->size = size;
    return status ? close_for_good(journal, status) : STATUS_OK;
}

enum status journal_create(const char *path, struct hash store, uint64_t first, struct journal *out)
{
    struct replace replace;
    *out = (struct journal){.fd = -1, .store = store, .next = first, .commit = first};
    snprintf(out->path, sizeof out->path, "%s", path);
    enum status status = replace_begin(path, &replace);
    if (!status)
        status = write_header(replace.fd, path, store, first);
    if (status) {
        replace_abort(&replace);
        return status;
    }
    return adopt(out, &replace, first, JOURNAL_HEADER_SIZE);
}

static void pack_cut(struct pack *pack, const char *text, size_t capacity)
{
    char cut[JOURNAL_REASON_SIZE];
    snprintf(cut, capacity, "%s", text);
    pack_text(pack, cut);
}

static void pack_payload(struct pack *pack, const struct journal_entry *entry)
{
    pack_u8(pack, (uint8_t)entry->kind);
    pack_u64(pack, entry->row);
    if (entry->kind == JOURNAL_RECORD) {
        pack_u32(pack, entry->attempt);
        pack_u64(pack, entry->number);
        pack_bytes(pack, entry->bytes, entry->size);
    } else {
        pack_u8(pack, (uint8_t)entry->status);
        pack_u32(pack, entry->attempts);
        pack_u32(pack, (uint32_t)entry->rank);
        pack_f64(pack, entry->started);
        pack_cut(pack, entry->host, JOURNAL_HOST_SIZE);
        pack_cut(pack, entry->reason, JOURNAL_REASON_SIZE);
    }
}

/* Fill in the checksum of the entry that starts at `start`, now that its payload is there. */
static void seal(struct pack *pack, size_t start)
{
    uint8_t *head = pack->data + start, *payload = head + JOURNAL_ENTRY_HEAD;
    size_t size = pack->size - start - JOURNAL_ENTRY_HEAD;
    for (int i = 0; i < 4; i++)
        head[i] = (uint8_t)(size >> (8 * i));
    uint64_t checksum = journal_checksum(head, payload, size);
    for (int i = 0; i < 8; i++)
        head[JOURNAL_ENTRY_CHECKED + i] = (uint8_t)(checksum >> (8 * i));
}

enum status journal_append(struct journal *journal, const struct journal_entry *entry)
{
    struct pack *pack = &journal->pending;
    size_t start = pack->size;
    if (journal->failed)
        return fail_closed(journal);
    if (entry->kind == JOURNAL_RECORD && entry->size > JOURNAL_MAX_PAYLOAD - 64)
        return status_fail(STATUS_INPUT, "%s: a record of %zu bytes is too long", journal->path, entry->size);
    pack_u32(pack, 0);
    pack_u64(pack, journal->next);
    pack_u64(pack, journal->commit);
    pack_u64(pack, 0);
    pack_payload(pack, entry);
    if (pack->failed) {
        pack->failed = false;
        pack->size = start;
        return status_fail(STATUS_NOMEM, "%s: out of memory for an entry", journal->path);
    }
    seal(pack, start);
    journal->next++;
    return STATUS_OK;
}

/* Whether the file has still the name under which the next run looks for it. */
static enum status check_place(const struct journal *journal)
{
    struct stat named, held;
    if (fstat(journal->fd, &held) == 0 && stat(journal->path, &named) == 0 && named.st_dev == held.st_dev &&
        named.st_ino == held.st_ino)
        return STATUS_OK;
    return status_fail(STATUS_IO, "%s is no longer there: it, or its folder, was removed or moved during the run", journal->path);
}

enum status journal_commit(struct journal *journal)
{
    struct pack *pack = &journal->pending;
    if (journal->failed)
        return fail_closed(journal);
    if (pack->size == 0)
        return STATUS_OK;
    enum status status = check_place(journal);
    if (!status && (!write_all(journal->fd, pack->data, pack->size, journal->size) || fdatasync(journal->fd)))
        status = status_fail(STATUS_IO, "cannot write %s: %s", journal->path, strerror(errno));
    if (status) {
        (void)!ftruncate(journal->fd, (off_t)journal->size); /* if it fails too: a torn tail, cut on the next start */
        journal->next = journal->commit;
        pack_clear(pack);
        return close_for_good(journal, status);
    }
    journal->size += pack->size;
    journal->commit = journal->next;
    pack_clear(pack);
    return STATUS_OK;
}

struct journal_mark journal_mark(const struct journal *journal)
{
    return (struct journal_mark){journal->size, journal->commit};
}

static enum status carry(struct journal *journal, int to, uint64_t from)
{
    uint8_t *buffer = mem_array(CARRY_BUFFER, 1);
    enum status status = buffer ? STATUS_OK : STATUS_NOMEM;
    for (uint64_t at = from; !status && at < journal->size;) {
        size_t want = journal->size - at < CARRY_BUFFER ? (size_t)(journal->size - at) : CARRY_BUFFER;
        ssize_t got = pread(journal->fd, buffer, want, (off_t)at);
        if (got <= 0 && errno != EINTR)
            status = status_fail(STATUS_IO, "cannot read %s: %s", journal->path, got ? strerror(errno) : "it was cut");
        else if (got > 0 && !write_all(to, buffer, (size_t)got, at - from + JOURNAL_HEADER_SIZE))
            status = status_fail(STATUS_IO, "cannot write the new %s: %s", journal->path, strerror(errno));
        at += got > 0 ? (uint64_t)got : 0;
    }
    mem_free(buffer);
    return status;
}

enum status journal_restart(struct journal *journal, struct journal_mark mark)
{
    struct replace replace;
    if (journal->failed)
        return fail_closed(journal);
    enum status status = replace_begin(journal->path, &replace);
    if (!status)
        status = write_header(replace.fd, journal->path, journal->store, mark.sequence);
    if (!status)
        status = carry(journal, replace.fd, mark.offset);
    if (status) {
        replace_abort(&replace);
        return status;
    }
    return adopt(journal, &replace, mark.sequence, journal->size - mark.offset + JOURNAL_HEADER_SIZE);
}

void journal_close(struct journal *journal)
{
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = -1;
    pack_free(&journal->pending);
}

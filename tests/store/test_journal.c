#include "fixture.h"

#include "bnsweep/store/journal_reader.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#include <cmocka.h>

struct folder {
    char path[64], journal[128];
};

static const struct hash STORE = {0x1234, 0x5678};

static int setup(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    fixture_folder(folder->path);
    snprintf(folder->journal, sizeof folder->journal, "%s/s.h5.journal", folder->path);
    *state = folder;
    return 0;
}

static int teardown(void **state)
{
    struct folder *folder = *state;
    fixture_remove(folder->path);
    free(folder);
    return 0;
}

static void append(struct journal *journal, uint64_t row)
{
    uint8_t bytes[24];
    memset(bytes, (int)row, sizeof bytes);
    struct journal_entry record = {.kind = JOURNAL_RECORD, .row = row, .attempt = 2, .number = 10 * row, .bytes = bytes, .size = sizeof bytes};
    assert_int_equal(journal_append(journal, &record), STATUS_OK);
}

static bool is_append(const struct journal_entry *entry, uint64_t row)
{
    bool same = entry->kind == JOURNAL_RECORD && entry->row == row && entry->attempt == 2 && entry->number == 10 * row && entry->size == 24;
    for (size_t i = 0; same && i < 24; i++)
        same = entry->bytes[i] == (uint8_t)row;
    return same;
}

/* Read rows `first`, first + 1, ...; return how many came right before the end or `*status`. */
static uint64_t scan(const char *path, uint64_t first, enum status *status, uint64_t *torn)
{
    struct journal_reader *reader;
    struct journal_entry entry;
    uint64_t count = 0, offset;
    bool more = true;
    *torn = 0;
    *status = journal_reader_open(path, &reader);
    if (*status)
        return 0;
    while ((*status = journal_reader_next(reader, &entry, &more)) == STATUS_OK && more) {
        assert_true(is_append(&entry, first + count));
        count++;
    }
    if (*status == STATUS_OK)
        *torn = journal_reader_torn(reader, &offset);
    journal_reader_close(reader);
    return count;
}

/* Three commits of two entries each: rows 1 to 6. */
static void write_six(const char *path, size_t ends[3])
{
    struct journal journal;
    assert_int_equal(journal_create(path, STORE, 1, &journal), STATUS_OK);
    for (int commit = 0; commit < 3; commit++) {
        append(&journal, 2 * (uint64_t)commit + 1);
        append(&journal, 2 * (uint64_t)commit + 2);
        assert_int_equal(journal_commit(&journal), STATUS_OK);
        ends[commit] = journal.size;
    }
    journal_close(&journal);
}

static void test_keeps_all_fields(void **state)
{
    struct folder *folder = *state;
    struct journal journal;
    struct journal_reader *reader;
    struct journal_entry entry;
    bool more;
    assert_int_equal(journal_create(folder->journal, STORE, 41, &journal), STATUS_OK);
    append(&journal, 5);
    struct journal_entry state_entry = {.kind = JOURNAL_STATUS, .row = 1ull << 40, .status = UNIT_FAILED, .attempts = 3, .rank = -1, .started = NAN};
    snprintf(state_entry.host, sizeof state_entry.host, "node");
    snprintf(state_entry.reason, sizeof state_entry.reason, "signal 9");
    assert_int_equal(journal_append(&journal, &state_entry), STATUS_OK);
    assert_int_equal(journal_commit(&journal), STATUS_OK);
    journal_close(&journal);
    assert_int_equal(journal_reader_open(folder->journal, &reader), STATUS_OK);
    assert_true(hash_equal(journal_reader_store(reader), STORE));
    assert_int_equal(journal_reader_first(reader), 41);
    assert_int_equal(journal_reader_next(reader, &entry, &more), STATUS_OK);
    assert_true(more && is_append(&entry, 5) && entry.sequence == 41);
    uint64_t offset = entry.offset;
    assert_int_equal(journal_reader_next(reader, &entry, &more), STATUS_OK);
    assert_true(more && entry.kind == JOURNAL_STATUS && entry.row == 1ull << 40 && entry.status == UNIT_FAILED);
    assert_true(entry.attempts == 3 && entry.rank == -1 && isnan(entry.started) && entry.sequence == 42);
    assert_string_equal(entry.host, "node");
    assert_string_equal(entry.reason, "signal 9");
    assert_int_equal(journal_reader_at(reader, offset, &entry), STATUS_OK);
    assert_true(is_append(&entry, 5));
    assert_int_equal(journal_reader_next(reader, &entry, &more), STATUS_OK);
    assert_false(more);
    assert_int_equal(journal_reader_torn(reader, &offset), 0);
    journal_reader_close(reader);
}

static void test_absent_is_no_journal(void **state)
{
    struct folder *folder = *state;
    struct journal_reader *reader;
    assert_int_equal(journal_reader_open(folder->journal, &reader), STATUS_OK);
    assert_null(reader);
}

static void test_uncommitted_is_not_there(void **state)
{
    struct folder *folder = *state;
    struct journal journal;
    enum status status;
    uint64_t torn;
    assert_int_equal(journal_create(folder->journal, STORE, 1, &journal), STATUS_OK);
    append(&journal, 1);
    assert_int_equal(journal_commit(&journal), STATUS_OK);
    append(&journal, 2);
    assert_int_equal(scan(folder->journal, 1, &status, &torn), 1);
    journal_close(&journal);
}

static void test_torn_at_every_byte(void **state)
{
    struct folder *folder = *state;
    size_t ends[3], size;
    enum status status;
    uint64_t torn;
    write_six(folder->journal, ends);
    unsigned char *bytes = fixture_load(folder->journal, &size);
    size_t entry = (ends[0] - JOURNAL_HEADER_SIZE) / 2;
    for (size_t cut = 0; cut <= size; cut++) {
        fixture_save(folder->journal, bytes, cut);
        uint64_t count = scan(folder->journal, 1, &status, &torn);
        if (cut < JOURNAL_HEADER_SIZE) {
            assert_int_equal(status, STATUS_CORRUPT);
            continue;
        }
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(count, (cut - JOURNAL_HEADER_SIZE) / entry);
        assert_int_equal(torn, (cut - JOURNAL_HEADER_SIZE) % entry);
    }
    free(bytes);
}

static void test_every_flipped_bit_shows(void **state)
{
    struct folder *folder = *state;
    size_t ends[3], size;
    enum status status;
    uint64_t torn;
    write_six(folder->journal, ends);
    unsigned char *bytes = fixture_load(folder->journal, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        fixture_save(folder->journal, bytes, size);
        uint64_t count = scan(folder->journal, 1, &status, &torn);
        if (bit / 8 < ends[1]) /* an acknowledged commit follows: never just cut */
            assert_int_equal(status, STATUS_CORRUPT);
        else
            assert_true(status == STATUS_CORRUPT || torn > 0);
        assert_true(count < 6);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(bytes);
}

/* A disk may keep the last page of a torn commit and lose its first. */
static void test_torn_commit_with_a_whole_last_entry(void **state)
{
    struct folder *folder = *state;
    size_t ends[3], size;
    enum status status;
    uint64_t torn;
    write_six(folder->journal, ends);
    unsigned char *bytes = fixture_load(folder->journal, &size);
    memset(bytes + ends[1], 0, (ends[2] - ends[1]) / 2);
    fixture_save(folder->journal, bytes, size);
    assert_int_equal(scan(folder->journal, 1, &status, &torn), 4);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(torn, ends[2] - ends[1]);
    free(bytes);
}

static void test_damage_is_named(void **state)
{
    struct folder *folder = *state;
    size_t ends[3], size;
    enum status status;
    uint64_t torn;
    char place[64];
    write_six(folder->journal, ends);
    unsigned char *bytes = fixture_load(folder->journal, &size);
    bytes[ends[0] + 40] ^= 1;
    fixture_save(folder->journal, bytes, size);
    assert_int_equal(scan(folder->journal, 1, &status, &torn), 2);
    assert_int_equal(status, STATUS_CORRUPT);
    snprintf(place, sizeof place, "byte %zu", ends[0]);
    assert_non_null(strstr(status_message(), place));
    free(bytes);
}

static void test_newer_version_is_refused(void **state)
{
    struct folder *folder = *state;
    size_t ends[3], size;
    struct journal_reader *reader;
    write_six(folder->journal, ends);
    unsigned char *bytes = fixture_load(folder->journal, &size);
    bytes[8] = JOURNAL_VERSION + 1;
    uint64_t checksum = hash_checksum(bytes, JOURNAL_HEADER_SIZE - 8, 0);
    memcpy(bytes + JOURNAL_HEADER_SIZE - 8, &checksum, 8); /* little-endian machines only, as the test machines are */
    fixture_save(folder->journal, bytes, size);
    assert_int_equal(journal_reader_open(folder->journal, &reader), STATUS_VERSION);
    assert_non_null(strstr(status_message(), "version 2"));
    free(bytes);
}

static void test_restart_carries_over(void **state)
{
    struct folder *folder = *state;
    struct journal journal;
    enum status status;
    uint64_t torn;
    assert_int_equal(journal_create(folder->journal, STORE, 1, &journal), STATUS_OK);
    append(&journal, 1);
    assert_int_equal(journal_commit(&journal), STATUS_OK);
    struct journal_mark mark = journal_mark(&journal);
    append(&journal, 2);
    append(&journal, 3);
    assert_int_equal(journal_commit(&journal), STATUS_OK);
    append(&journal, 4); /* pending during the restart */
    assert_int_equal(journal_restart(&journal, mark), STATUS_OK);
    assert_int_equal(scan(folder->journal, 2, &status, &torn), 2);
    assert_int_equal(journal_commit(&journal), STATUS_OK);
    assert_int_equal(scan(folder->journal, 2, &status, &torn), 3);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(torn, 0);
    assert_int_equal(fixture_count(folder->path, "publish"), 0);
    journal_close(&journal);
}

static void test_failed_commit_keeps_what_was_committed(void **state)
{
    struct folder *folder = *state;
    struct journal journal;
    struct rlimit old, small;
    enum status status;
    uint64_t torn;
    assert_int_equal(journal_create(folder->journal, STORE, 1, &journal), STATUS_OK);
    append(&journal, 1);
    assert_int_equal(journal_commit(&journal), STATUS_OK);
    append(&journal, 2);
    append(&journal, 3);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = journal.size + 30; /* the file may not grow as far as it needs to */
    setrlimit(RLIMIT_FSIZE, &small);
    status = journal_commit(&journal);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, STATUS_IO);
    assert_non_null(strstr(status_message(), strerror(EFBIG)));
    struct journal_entry more = {.kind = JOURNAL_STATUS, .row = 9};
    assert_int_equal(journal_append(&journal, &more), STATUS_IO);
    assert_int_equal(journal_commit(&journal), STATUS_IO);
    assert_int_equal(scan(folder->journal, 1, &status, &torn), 1);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(torn, 0);
    journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keeps_all_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent_is_no_journal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_uncommitted_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_flipped_bit_shows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_commit_with_a_whole_last_entry, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_version_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_restart_carries_over, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed_commit_keeps_what_was_committed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

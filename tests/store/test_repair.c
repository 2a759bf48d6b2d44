/* A journal that a run refuses: all that can be read of it goes into the store, the rest is trained again, the file is kept. */
#include "fixture.h"

#include "bnsweep/store/journal.h"
#include "bnsweep/store/reader_unit.h"
#include "bnsweep/store/repair.h"
#include "bnsweep/store/verify.h"

#include <setjmp.h>
#include <stdbool.h>

#include <cmocka.h>

enum { UNITS = 2, ENTRIES = 2 * (1 + 1 + FIXTURE_CHECKS + FIXTURE_SAMPLES + 1) };

struct place {
    char folder[64], store[96], journal[112], kept[128];
    unsigned char *whole_store, *whole_journal;
    size_t store_size, journal_size;
    size_t entry[ENTRIES + 1]; /* where each begins */
};

static uint32_t get_u32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Nothing is kept for replays: both units have the same entries. */
static struct layout layout_without_kept(void)
{
    struct layout layout = fixture_layout();
    layout.extent.steps = layout.extent.parameters = 0;
    return layout;
}

/* A store without measurements, and a journal with all of two units, a commit each entry. */
static int set_up(void **state)
{
    static struct place place;
    struct layout layout = layout_without_kept();
    struct writer_unit units[UNITS];
    struct writer *writer;
    fixture_folder(place.folder);
    snprintf(place.store, sizeof place.store, "%s/s.h5", place.folder);
    snprintf(place.journal, sizeof place.journal, "%s.journal", place.store);
    snprintf(place.kept, sizeof place.kept, "%s.damaged", place.journal);
    assert_int_equal(fixture_open(place.store, &layout, UNITS, units, &writer), STATUS_OK);
    place.whole_store = fixture_load(place.store, &place.store_size);
    for (int unit = 1; unit >= 0; unit--) {
        assert_int_equal(fixture_unit(writer, &layout, (uint64_t)unit), STATUS_OK);
        assert_int_equal(writer_commit(writer), STATUS_OK);
    }
    place.whole_journal = fixture_load(place.journal, &place.journal_size);
    assert_int_equal(writer_close(writer), STATUS_OK);
    size_t at = JOURNAL_HEADER_SIZE;
    for (int i = 0; i < ENTRIES; i++, at += JOURNAL_ENTRY_HEAD + get_u32(place.whole_journal + at))
        place.entry[i] = at;
    place.entry[ENTRIES] = at;
    assert_int_equal(at, place.journal_size);
    *state = &place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    free(place->whole_store);
    free(place->whole_journal);
    fixture_remove(place->folder);
    return 0;
}

/* Store and journal as they were, but for one byte of the journal. */
static void damage(struct place *place, size_t at, unsigned char bits)
{
    unlink(place->kept);
    fixture_save(place->store, place->whole_store, place->store_size);
    place->whole_journal[at] ^= bits;
    fixture_save(place->journal, place->whole_journal, place->journal_size);
    place->whole_journal[at] ^= bits;
}

static enum unit_status unit_status(const struct place *place, uint64_t row, uint32_t *checks)
{
    struct reader *reader;
    struct reader_unit unit;
    assert_int_equal(reader_open(place->store, &reader), STATUS_OK);
    assert_int_equal(reader_unit_list(reader, row, 1, &unit), STATUS_OK);
    enum unit_status status = unit.status;
    *checks = unit.checks;
    reader_unit_free(&unit, 1);
    reader_close(reader);
    return status;
}

static void assert_kept(const struct place *place)
{
    size_t size;
    unsigned char *bytes = fixture_load(place->kept, &size);
    size_t differences = 0;
    assert_int_equal(size, place->journal_size);
    for (size_t i = 0; i < size; i++)
        differences += bytes[i] != place->whole_journal[i];
    assert_int_equal(differences, 1);
    free(bytes);
    assert_int_equal(access(place->journal, F_OK), -1);
}

static void test_damage_in_the_middle(void **state)
{
    struct place *place = *state;
    struct repair_report report;
    struct layout layout = layout_without_kept();
    struct writer_unit units[UNITS];
    struct writer *writer;
    uint32_t checks;
    size_t third_check = ENTRIES / 2 + 2 + 2; /* of unit 0, which is behind unit 1 */
    damage(place, place->entry[third_check] + 60, 4);
    assert_int_equal(fixture_open(place->store, &layout, UNITS, units, &writer), STATUS_OK); /* one commit: cut as torn */
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(unit_status(place, 0, &checks), UNIT_PENDING);
    damage(place, place->entry[2] + 60, 4); /* a check of unit 1, in an earlier commit */
    assert_int_equal(fixture_open(place->store, &layout, UNITS, units, &writer), STATUS_CORRUPT);
    assert_non_null(strstr(status_message(), "bnsweep repair"));
    assert_int_equal(repair_store(place->store, &report), STATUS_OK);
    assert_true(report.needed && !report.foreign);
    assert_non_null(strstr(report.problem, "is damaged"));
    assert_string_equal(report.kept, place->kept);
    assert_int_equal(report.entries, ENTRIES - 1);
    assert_int_equal(report.records, ENTRIES - 1 - UNITS);
    assert_int_equal(report.places, 1);
    assert_int_equal(report.bytes, place->entry[3] - place->entry[2]);
    assert_int_equal(report.unusable, 0);
    assert_int_equal(report.again, 1);
    assert_kept(place);
    assert_int_equal(unit_status(place, 0, &checks), UNIT_DONE);
    assert_int_equal(checks, FIXTURE_CHECKS);
    assert_int_equal(unit_status(place, 1, &checks), UNIT_PENDING);
    assert_int_equal(checks, FIXTURE_CHECKS - 1);
    assert_int_equal(fixture_open(place->store, &layout, UNITS, units, &writer), STATUS_OK);
    assert_true(units[0].status == UNIT_DONE && units[1].status == UNIT_PENDING);
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(repair_store(place->store, &report), STATUS_OK);
    assert_false(report.needed);
}

/* Every entry but the damaged one comes through, whichever byte it is, and nothing comes that was not there. */
static void test_each_entry_damaged(void **state)
{
    struct place *place = *state;
    unsigned repaired = 0;
    for (int i = 0; i < ENTRIES; i++) {
        static const size_t within[] = {0, 4, 12, 20, JOURNAL_ENTRY_HEAD, JOURNAL_ENTRY_HEAD + 10};
        size_t at = place->entry[i] + within[i % 6];
        struct repair_report report;
        uint32_t checks;
        damage(place, at, (unsigned char)(1 << i % 8));
        assert_int_equal(repair_store(place->store, &report), STATUS_OK);
        if (!report.needed) { /* in the last commit: not told from a torn one */
            assert_true(i >= ENTRIES / 2);
            continue;
        }
        repaired++;
        assert_int_equal(report.entries, ENTRIES - 1);
        assert_kept(place);
        assert_int_equal(unit_status(place, 0, &checks), UNIT_DONE);
        bool lacks = report.again || i == 0 || i == ENTRIES / 2 - 1; /* unit 1's start, its end: the others are measurements */
        assert_true(lacks);
        assert_int_equal(unit_status(place, 1, &checks), i == 0 ? UNIT_DONE : i == ENTRIES / 2 - 1 ? UNIT_RUNNING : UNIT_PENDING);
    }
    print_message("%u journals repaired\n", repaired);
    assert_int_equal(repaired, ENTRIES / 2);
}

static void test_damaged_header(void **state)
{
    struct place *place = *state;
    for (size_t at = 0; at < JOURNAL_HEADER_SIZE; at += 5) {
        struct repair_report report;
        uint32_t checks;
        damage(place, at, 16);
        assert_int_equal(repair_store(place->store, &report), STATUS_OK);
        assert_true(report.needed && !report.foreign);
        assert_int_equal(report.entries, ENTRIES);
        assert_int_equal(report.again, 0);
        assert_int_equal(report.bytes, JOURNAL_HEADER_SIZE);
        assert_kept(place);
        assert_int_equal(unit_status(place, 0, &checks), UNIT_DONE);
        assert_int_equal(unit_status(place, 1, &checks), UNIT_DONE);
    }
}

static void reseal_header(unsigned char *bytes)
{
    uint64_t checksum = hash_checksum(bytes, JOURNAL_HEADER_SIZE - 8, 0);
    for (int i = 0; i < 8; i++)
        bytes[JOURNAL_HEADER_SIZE - 8 + i] = (unsigned char)(checksum >> 8 * i);
}

static void test_other_journals(void **state)
{
    struct place *place = *state;
    struct repair_report report;
    uint32_t checks;
    unsigned char *bytes = malloc(place->journal_size);
    memcpy(bytes, place->whole_journal, place->journal_size);
    damage(place, 0, 0);
    bytes[20] ^= 1; /* of the store's identity */
    reseal_header(bytes);
    fixture_save(place->journal, bytes, place->journal_size);
    assert_int_equal(repair_store(place->store, &report), STATUS_OK);
    assert_true(report.needed && report.foreign && report.entries == 0);
    assert_int_equal(access(place->kept, F_OK), 0);
    assert_int_equal(unit_status(place, 0, &checks), UNIT_PENDING);
    bytes[20] ^= 1;
    bytes[8]++; /* the version */
    reseal_header(bytes);
    fixture_save(place->journal, bytes, place->journal_size);
    assert_int_equal(repair_store(place->store, &report), STATUS_VERSION);
    assert_int_equal(access(place->journal, F_OK), 0);
    free(bytes);
    damage(place, 0, 0);
    unlink(place->store);
    assert_int_equal(repair_store(place->store, &report), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "put the store back"));
    unlink(place->journal);
    assert_int_equal(repair_store(place->store, &report), STATUS_INPUT);
}

/* The store is an old copy: what the journal has behind it is taken, and units of which it has only the end are trained again. */
static void test_entries_missing_before_the_journal(void **state)
{
    struct place *place = *state;
    struct repair_report report;
    uint32_t checks;
    size_t cut = place->entry[4] - JOURNAL_HEADER_SIZE, size = place->journal_size - cut;
    unsigned char *bytes = malloc(size);
    memcpy(bytes, place->whole_journal, JOURNAL_HEADER_SIZE);
    memcpy(bytes + JOURNAL_HEADER_SIZE, place->whole_journal + place->entry[4], size - JOURNAL_HEADER_SIZE);
    bytes[32] = 5; /* its first entry */
    reseal_header(bytes);
    damage(place, 0, 0);
    fixture_save(place->journal, bytes, size);
    assert_int_equal(repair_store(place->store, &report), STATUS_OK);
    assert_non_null(strstr(report.problem, "old copy"));
    assert_int_equal(report.entries, ENTRIES - 4);
    assert_int_equal(report.again, 1);
    assert_int_equal(unit_status(place, 0, &checks), UNIT_DONE);
    assert_int_equal(unit_status(place, 1, &checks), UNIT_PENDING);
    free(bytes);
}

/* --- what is kept for replays --- */

enum { KEPT_UNITS = 4, KEPT_ENTRIES = 2 * (1 + 1 + 3 + 4 + 1) + 2 + 3 + 2 * (1 + 1 + 3 + 4 + 1) };

static const int64_t kept_checks[] = {2, 4, 6}, kept_samples[] = {1, 3, 5, 7};

static struct layout kept_layout(void)
{
    struct layout layout = fixture_layout();
    layout.checks = kept_checks;
    layout.samples = kept_samples;
    return layout;
}

static enum status end_unit(struct writer *writer, uint64_t row, const char *weights, const char *norm)
{
    struct record *record = calloc(1, sizeof *record);
    struct pack pack = {0};
    *record = (struct record){.kind = RECORD_END, .outcome = RECORD_DONE, .steps = FIXTURE_STEPS, .seconds = 1,
                              .weights_init = hash_bytes("init", 4), .weights_final = hash_bytes(weights, strlen(weights)),
                              .statistics_final = hash_bytes(&row, sizeof row)};
    snprintf(record->applied, sizeof record->applied, "norm = %s\n", norm);
    enum status status = record_pack(record, &pack);
    if (!status)
        status = writer_record(writer, row, 1, 1000, pack.data, pack.size);
    pack_free(&pack);
    free(record);
    return status ? status : writer_commit(writer);
}

/* One unit, a commit each entry. */
static void write_unit(struct writer *writer, const struct layout *layout, uint64_t row, bool keeps, const char *weights, const char *norm)
{
    assert_int_equal(writer_status(writer, row, UNIT_RUNNING, 1, "node1", 3, 1.75e9, ""), STATUS_OK);
    assert_int_equal(writer_commit(writer), STATUS_OK);
    static const enum variable_group groups[] = {GROUP_UNIT, GROUP_CHECK, GROUP_TRACE, GROUP_WEIGHTS};
    for (size_t g = 0; g < 4; g++)
        for (uint32_t i = 0; (groups[g] != GROUP_WEIGHTS || keeps) && i < variables_record_count(groups[g], &layout->extent); i++) {
            assert_int_equal(fixture_values(writer, layout, row, groups[g], i), STATUS_OK);
            assert_int_equal(writer_commit(writer), STATUS_OK);
        }
    for (uint32_t first = 0; keeps && first < FIXTURE_STEPS; first += 4) {
        assert_int_equal(fixture_steps_record(writer, layout, row, first, first ? 3 : 4), STATUS_OK);
        assert_int_equal(writer_commit(writer), STATUS_OK);
    }
    assert_int_equal(end_unit(writer, row, weights, norm), STATUS_OK);
}

static void keep_text(void *context, const char *text)
{
    snprintf(context, 256, "%s", text);
}

/* Units 0 and 1 share a trajectory, and 0 keeps for both; 2 and 3, of another norm, keep nothing and need not. Whichever of unit 0's
 * kept records is lost, unit 0 is trained again and the others are not; then all is well again. */
static void test_lost_kept_records(void **state)
{
    struct layout layout = kept_layout();
    struct writer_unit units[KEPT_UNITS];
    struct writer *writer;
    struct place place = {0};
    size_t entries[KEPT_ENTRIES + 1], count = 0, lost = 0;
    (void)state;
    fixture_folder(place.folder);
    snprintf(place.store, sizeof place.store, "%s/s.h5", place.folder);
    snprintf(place.journal, sizeof place.journal, "%s.journal", place.store);
    snprintf(place.kept, sizeof place.kept, "%s.damaged", place.journal);
    assert_int_equal(fixture_open(place.store, &layout, KEPT_UNITS, units, &writer), STATUS_OK);
    place.whole_store = fixture_load(place.store, &place.store_size);
    write_unit(writer, &layout, 0, true, "shared", "batch");
    write_unit(writer, &layout, 1, false, "shared", "batch");
    write_unit(writer, &layout, 2, false, "other", "group");
    write_unit(writer, &layout, 3, false, "another", "none");
    place.whole_journal = fixture_load(place.journal, &place.journal_size);
    assert_int_equal(writer_close(writer), STATUS_OK);
    for (size_t at = JOURNAL_HEADER_SIZE; at < place.journal_size; at += JOURNAL_ENTRY_HEAD + get_u32(place.whole_journal + at))
        entries[count++] = at;
    assert_int_equal(count, KEPT_ENTRIES);
    for (size_t i = 0; i < 1 + 1 + 3 + 4 + 3 + 2; i++) {
        struct repair_report report;
        struct verify_report verified;
        uint32_t checks;
        char text[256] = "";
        damage(&place, entries[i] + 40, 8);
        assert_int_equal(repair_store(place.store, &report), STATUS_OK);
        assert_true(report.needed && report.entries == KEPT_ENTRIES - 1);
        assert_int_equal(report.again, i > 0); /* entry 0 is its start */
        lost += report.again;
        assert_int_equal(unit_status(&place, 0, &checks), i ? UNIT_PENDING : UNIT_DONE);
        for (uint64_t row = 1; row < KEPT_UNITS; row++)
            assert_int_equal(unit_status(&place, row, &checks), UNIT_DONE);
        if (verify_store(place.store, keep_text, text, &verified)) /* what is pending is no fault */
            fail_msg("entry %zu: %s", i, text);
        assert_int_equal(fixture_open(place.store, &layout, KEPT_UNITS, units, &writer), STATUS_OK);
        assert_int_equal(units[0].status, i ? UNIT_PENDING : UNIT_DONE);
        write_unit(writer, &layout, 0, true, "shared", "batch");
        assert_int_equal(writer_close(writer), STATUS_OK);
        if (verify_store(place.store, keep_text, text, &verified))
            fail_msg("entry %zu, trained again: %s", i, text);
    }
    assert_int_equal(lost, 13);
    free(place.whole_store);
    free(place.whole_journal);
    fixture_remove(place.folder);
}

/* Said of a store that came to it otherwise: once a trajectory, and with the gap where there is one. */
static void test_verify_says_what_was_not_kept(void **state)
{
    struct layout layout = kept_layout();
    struct writer_unit units[KEPT_UNITS];
    struct writer *writer;
    struct verify_report report;
    char folder[64], store[96], text[256] = "";
    (void)state;
    fixture_folder(folder);
    snprintf(store, sizeof store, "%s/s.h5", folder);
    assert_int_equal(fixture_open(store, &layout, KEPT_UNITS, units, &writer), STATUS_OK);
    write_unit(writer, &layout, 0, false, "shared", "batch");
    write_unit(writer, &layout, 1, false, "shared", "batch");
    write_unit(writer, &layout, 2, false, "other", "group");
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(verify_store(store, keep_text, text, &report), STATUS_MISMATCH);
    assert_int_equal(report.problems, 1);
    assert_non_null(strstr(text, "row 0 is done, but no unit of its trajectory has kept batch_mean: other BN momenta of it will be trained"));

    assert_int_equal(fixture_open(store, &layout, KEPT_UNITS, units, &writer), STATUS_OK);
    assert_int_equal(fixture_steps_record(writer, &layout, 1, 0, 3), STATUS_OK);
    assert_int_equal(fixture_steps_record(writer, &layout, 1, 4, 3), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(verify_store(store, keep_text, text, &report), STATUS_MISMATCH);
    assert_int_equal(report.problems, 1);
    assert_string_equal(text, "row 1 is done, but has 3 of 7 positions of batch_mean");

    assert_int_equal(fixture_open(store, &layout, KEPT_UNITS, units, &writer), STATUS_OK);
    assert_int_equal(fixture_steps_record(writer, &layout, 1, 3, 1), STATUS_OK);
    assert_int_equal(fixture_values(writer, &layout, 1, GROUP_WEIGHTS, 0), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(verify_store(store, keep_text, text, &report), STATUS_MISMATCH);
    assert_string_equal(text, "row 1 is done, but has 1 of 3 positions of weights");

    assert_int_equal(fixture_open(store, &layout, KEPT_UNITS, units, &writer), STATUS_OK);
    for (uint32_t check = 1; check < 3; check++)
        assert_int_equal(fixture_values(writer, &layout, 1, GROUP_WEIGHTS, check), STATUS_OK);
    assert_int_equal(fixture_steps_record(writer, &layout, 0, 0, 3), STATUS_OK); /* interrupted, then replayed from unit 1 */
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(verify_store(store, keep_text, text, &report), STATUS_OK);
    fixture_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_in_the_middle),
        cmocka_unit_test(test_each_entry_damaged),
        cmocka_unit_test(test_damaged_header),
        cmocka_unit_test(test_other_journals),
        cmocka_unit_test(test_entries_missing_before_the_journal),
        cmocka_unit_test(test_lost_kept_records),
        cmocka_unit_test(test_verify_says_what_was_not_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

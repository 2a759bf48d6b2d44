#include "fixture.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/store/journal_reader.h"
#include "bnsweep/store/lock.h"
#include "bnsweep/store/publish.h"
#include "bnsweep/store/reader_unit.h"
#include "bnsweep/store/verify.h"

#include <limits.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>
#include <hdf5.h>

struct folder {
    char path[64], store[128], journal[128];
    struct layout layout;
    struct writer_unit units[FIXTURE_MOST_UNITS];
};

static int setup(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    fixture_folder(folder->path);
    snprintf(folder->store, sizeof folder->store, "%s/s.h5", folder->path);
    snprintf(folder->journal, sizeof folder->journal, "%s/s.h5.journal", folder->path);
    folder->layout = fixture_layout();
    *state = folder;
    return 0;
}

static int teardown(void **state)
{
    struct folder *folder = *state;
    assert_int_equal(fixture_count(folder->path, ".publish."), 0);
    fixture_remove(folder->path);
    free(folder);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    return 0;
}

static struct writer *open_store(struct folder *folder, size_t count)
{
    struct writer *writer;
    if (fixture_open(folder->store, &folder->layout, count, folder->units, &writer))
        fail_msg("%s", status_message());
    return writer;
}

static struct reader *open_reader(const struct folder *folder)
{
    struct reader *reader;
    if (reader_open(folder->store, &reader))
        fail_msg("%s", status_message());
    return reader;
}

/* A store with units 0 .. count - 1, of which those below `done` are trained. */
static void make_store(struct folder *folder, size_t count, size_t done)
{
    struct writer *writer = open_store(folder, count);
    for (size_t unit = 0; unit < done; unit++)
        assert_int_equal(fixture_unit(writer, &folder->layout, folder->units[unit].row), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
}

/* Every value of every variable of `row` has the fixture's bits (`there`) or is NaN. */
static void check_row(const struct folder *folder, const struct reader *reader, uint64_t row, bool there)
{
    float values[512], empty = NAN;
    for (int id = 0; id < VARIABLE_COUNT; id++) {
        enum variable_group group = variables_table[id].group;
        if (!layout_has_variable((enum variable_id)id, &folder->layout.extent) || variables_kept(group))
            continue;
        size_t size = variables_size((enum variable_id)id, &folder->layout.extent);
        size_t offset = variables_offset((enum variable_id)id, &folder->layout.extent);
        assert_int_equal(reader_values(reader, (enum variable_id)id, row, 1, values), STATUS_OK);
        for (size_t index = 0; index < variables_record_count(group, &folder->layout.extent); index++)
            for (size_t i = 0; i < size; i++) {
                float expected = there ? fixture_value(row, group, index, offset + i) : empty;
                assert_memory_equal(&values[index * size + i], &expected, sizeof expected);
            }
    }
}

/* What `row` has kept, read a few positions at a time, has the fixture's bits, or all is NaN. */
static void check_kept(const struct folder *folder, const struct reader *reader, uint64_t row, bool there)
{
    const struct variables_extent *extent = &folder->layout.extent;
    double steps[3 * FIXTURE_CHANNELS];
    float weights[FIXTURE_PARAMETERS];
    for (int id = VARIABLE_batch_mean; id <= VARIABLE_batch_var; id++)
        for (size_t first = 0; first < FIXTURE_STEPS; first += 3) {
            size_t count = FIXTURE_STEPS - first < 3 ? FIXTURE_STEPS - first : 3, offset = variables_offset((enum variable_id)id, extent);
            assert_int_equal(reader_positions(reader, (enum variable_id)id, row, first, count, steps), STATUS_OK);
            for (size_t i = 0; i < count * FIXTURE_CHANNELS; i++) {
                size_t index = first + i / FIXTURE_CHANNELS, at = offset + i % FIXTURE_CHANNELS;
                double expected = there ? (double)fixture_value(row, GROUP_STEP, index, at) + 0x1p-40 : NAN;
                assert_memory_equal(&steps[i], &expected, sizeof expected);
            }
        }
    for (size_t index = 0; index < FIXTURE_CHECKS; index++) {
        assert_int_equal(reader_positions(reader, VARIABLE_weights, row, index, 1, weights), STATUS_OK);
        for (size_t i = 0; i < FIXTURE_PARAMETERS; i++) {
            float expected = there ? fixture_value(row, GROUP_WEIGHTS, index, i) : NAN;
            assert_memory_equal(&weights[i], &expected, sizeof expected);
        }
    }
}

static void check_text(const struct reader *reader, const char *column, uint64_t row, const char *expected)
{
    char *text;
    assert_int_equal(reader_texts(reader, column, row, 1, &text), STATUS_OK);
    assert_string_equal(text, expected);
    mem_free(text);
}

static void test_values_come_back_bit_by_bit(void **state)
{
    struct folder *folder = *state;
    make_store(folder, 3, 0);
    struct writer *writer = open_store(folder, 3);
    assert_int_equal(fixture_unit(writer, &folder->layout, 2), STATUS_OK);
    assert_int_equal(fixture_unit(writer, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    struct reader *reader = open_reader(folder);
    assert_int_equal(reader_rows(reader), 3);
    assert_memory_equal(reader_extent(reader), &folder->layout.extent, sizeof folder->layout.extent);
    for (uint64_t row = 0; row < 3; row++) {
        check_row(folder, reader, row, row != 1);
        check_kept(folder, reader, row, row == 0);
    }
    double step[FIXTURE_CHANNELS];
    assert_int_equal(reader_positions(reader, VARIABLE_batch_mean, 0, FIXTURE_STEPS, 1, step), STATUS_INPUT);
    assert_int_equal(reader_positions(reader, VARIABLE_batch_mean, 3, 0, 1, step), STATUS_INPUT);
    float all[3 * FIXTURE_CHECKS];
    assert_int_equal(reader_values(reader, VARIABLE_lr_applied, 0, 3, all), STATUS_OK);
    for (size_t i = 0; i < 3 * FIXTURE_CHECKS; i++)
        assert_int_equal(isnan(all[i]), i / FIXTURE_CHECKS == 1);
    reader_close(reader);
    assert_int_equal(access(folder->journal, F_OK), -1);
}

static void test_columns_and_attributes(void **state)
{
    struct folder *folder = *state;
    char hex[HASH_HEX_SIZE], *text;
    int64_t integers[3], axis[FIXTURE_CHANNELS];
    double decay;
    make_store(folder, 3, 1);
    struct reader *reader = open_reader(folder);
    check_text(reader, "lr", 0, "0.125"); /* as applied */
    check_text(reader, "lr", 1, "0.2");   /* as asked for */
    check_text(reader, "norm_setting", 0, "group");
    check_text(reader, "norm_setting", 1, "batch");
    check_text(reader, "note", 1, "größer");
    check_text(reader, "arm", 1, "arm 1");
    check_text(reader, "seconds", 0, "12.5");
    check_text(reader, "seconds", 1, "nan");
    check_text(reader, "steps_done", 0, "300");
    hash_hex(fixture_identity(1), hex);
    check_text(reader, "identity", 1, hex);
    hash_hex(hash_bytes("final", 5), hex);
    check_text(reader, "weights_hash", 0, hex);
    check_text(reader, "weights_hash", 1, "");
    assert_int_equal(reader_integers(reader, "seed", 0, 3, integers), STATUS_OK);
    assert_true(integers[0] == 7 && integers[1] == 1 && integers[2] == 2);
    assert_int_equal(reader_integers(reader, "lr", 0, 3, integers), STATUS_INPUT);
    assert_int_equal(reader_integers(reader, "seed", 1, 3, integers), STATUS_INPUT);
    assert_int_equal(reader_integers(reader, "nothing", 0, 1, integers), STATUS_INPUT);
    assert_int_equal(reader_axis_integers(reader, "channel_layer", axis), STATUS_OK);
    assert_memory_equal(axis, fixture_layer, sizeof fixture_layer);
    assert_int_equal(reader_axis_reals(reader, "ema", &decay), STATUS_OK);
    assert_true(decay == 0.99);
    assert_int_equal(reader_attribute(reader, "ini", &text), STATUS_OK);
    assert_string_equal(text, fixture_attributes[2].text);
    mem_free(text);
    assert_int_equal(reader_attribute(reader, "nothing", &text), STATUS_CORRUPT);
    size_t settings = 0;
    for (size_t i = 0; i < reader_column_count(reader); i++)
        settings += reader_column(reader, i)->setting;
    assert_int_equal(settings, FIXTURE_COLUMNS);
    assert_int_equal(reader_column_count(reader), FIXTURE_COLUMNS + COLUMN_COUNT);
    reader_close(reader);
}

static void test_axes_without_length_are_left_out(void **state)
{
    struct folder *folder = *state;
    float value;
    folder->layout.extent.samples = folder->layout.extent.emas = folder->layout.extent.orders = folder->layout.extent.ks = 0;
    make_store(folder, 2, 1);
    struct reader *reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    assert_int_equal(reader_values(reader, VARIABLE_lag_trace, 0, 1, &value), STATUS_INPUT);
    assert_int_equal(reader_values(reader, VARIABLE_acc_ema, 0, 1, &value), STATUS_INPUT);
    assert_int_equal(reader_axis_reals(reader, "ema", (double[1]){0}), STATUS_CORRUPT);
    reader_close(reader);
    make_store(folder, 2, 1); /* and is the same layout when opened again */
}

static void test_committed_shows_before_it_is_published(void **state)
{
    struct folder *folder = *state;
    struct reader_unit units[3];
    struct writer *writer = open_store(folder, 3);
    assert_int_equal(fixture_unit(writer, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_status(writer, 1, UNIT_RUNNING, 2, "node7", 4, 1e9, ""), STATUS_OK);
    assert_int_equal(fixture_values(writer, &folder->layout, 1, GROUP_CHECK, 1), STATUS_OK);
    assert_int_equal(fixture_values(writer, &folder->layout, 1, GROUP_CHECK, 1), STATUS_OK);
    assert_true(writer_pending(writer));
    assert_int_equal(writer_commit(writer), STATUS_OK);
    assert_false(writer_pending(writer));
    assert_int_equal(writer_status(writer, 2, UNIT_FAILED, 3, "node7", 4, 1e9, "signal 9"), STATUS_OK); /* not committed */
    struct reader *reader = open_reader(folder);
    assert_int_equal(reader_journal(reader)->waiting, 15 + 3);
    assert_int_equal(reader_journal(reader)->health, STATUS_OK);
    assert_int_equal(reader_unit_list(reader, 0, 3, units), STATUS_OK);
    assert_true(units[0].status == UNIT_DONE && units[0].checks == 3 && units[0].seconds == 12.5 && units[0].rank == 3);
    assert_true(units[1].status == UNIT_RUNNING && units[1].checks == 1 && units[1].attempts == 2);
    assert_string_equal(units[1].host, "node7");
    assert_true(units[2].status == UNIT_PENDING && units[2].checks == 0 && units[2].rank == -1);
    reader_unit_free(units, 3);
    check_row(folder, reader, 0, false);
    reader_close(reader);
    assert_int_equal(writer_close(writer), STATUS_OK);
    reader = open_reader(folder);
    assert_false(reader_journal(reader)->exists);
    assert_int_equal(reader_unit_list(reader, 0, 3, units), STATUS_OK);
    assert_true(units[2].status == UNIT_FAILED);
    assert_string_equal(units[2].reason, "signal 9");
    reader_unit_free(units, 3);
    reader_close(reader);
}

static void wait_published(struct writer *writer, enum status expected)
{
    bool finished = false;
    enum status status = STATUS_OK;
    while (!finished) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        status = writer_publish_poll(writer, &finished);
    }
    assert_int_equal(status, expected);
    assert_int_equal(writer_publish_poll(writer, &finished), STATUS_OK);
    assert_false(finished);
}

static void test_child_publishes_meanwhile(void **state)
{
    struct folder *folder = *state;
    char publish[] = "publish";
    char *argv[] = {publish, publish, folder->store, NULL};
    struct writer *writer = open_store(folder, 3);
    assert_false(writer_publish_due(writer));
    assert_int_equal(fixture_unit(writer, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_publish_start(writer, argv), STATUS_OK);
    assert_int_equal(writer_publish_start(writer, argv), STATUS_INTERNAL);
    assert_int_equal(fixture_unit(writer, &folder->layout, 1), STATUS_OK); /* while the child is at it */
    assert_int_equal(writer_commit(writer), STATUS_OK);
    struct reader *old = open_reader(folder);
    wait_published(writer, STATUS_OK);
    struct reader *reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    assert_true(reader_journal(reader)->waiting <= 10);
    reader_close(reader);
    assert_int_equal(fixture_values(writer, &folder->layout, 2, GROUP_CHECK, 0), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    check_row(folder, reader, 1, true);
    reader_close(reader);
    assert_int_equal(reader_rows(old), 3); /* the replaced file still serves who has it open */
    assert_int_equal(reader_values(old, VARIABLE_norm_init, 2, 1, (float[FIXTURE_CHANNELS]){0}), STATUS_OK);
    reader_close(old);
}

static void test_failed_child_loses_nothing(void **state)
{
    struct folder *folder = *state;
    char publish[] = "publish", missing[] = "/nowhere/s.h5";
    char *argv[] = {publish, publish, missing, NULL};
    struct writer *writer = open_store(folder, 1);
    assert_int_equal(fixture_unit(writer, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_publish_start(writer, argv), STATUS_OK);
    wait_published(writer, STATUS_IO);
    assert_non_null(strstr(status_message(), "ended with status 1"));
    assert_false(writer_publish_due(writer));
    assert_int_equal(writer_close(writer), STATUS_OK);
    struct reader *reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    reader_close(reader);
}

/* Applying the same entries twice, as after a crash between publishing and the new journal. */
static void test_replay_is_harmless(void **state)
{
    struct folder *folder = *state;
    size_t size, after;
    struct writer *writer = open_store(folder, 2);
    assert_int_equal(fixture_unit(writer, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_commit(writer), STATUS_OK);
    unsigned char *journal = fixture_load(folder->journal, &size);
    assert_int_equal(writer_close(writer), STATUS_OK);
    unsigned char *store = fixture_load(folder->store, &after);
    fixture_save(folder->journal, journal, size);
    struct reader *reader = open_reader(folder);
    assert_int_equal(reader_journal(reader)->waiting, 0);
    reader_close(reader);
    assert_int_equal(publish_run(folder->store), STATUS_OK);
    size_t again;
    unsigned char *twice = fixture_load(folder->store, &again);
    assert_int_equal(again, after);
    assert_memory_equal(twice, store, after);
    make_store(folder, 2, 0);
    reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    check_text(reader, "status", 0, "2");
    reader_close(reader);
    free(journal);
    free(store);
    free(twice);
}

static void test_extension_keeps_what_is_there(void **state)
{
    struct folder *folder = *state;
    make_store(folder, 2, 2);
    struct hash identities[] = {fixture_identity(9), fixture_identity(1), fixture_identity(9), fixture_identity(8)};
    struct writer_units units = {.count = 4, .identities = identities, .describe = fixture_describe};
    struct writer_unit out[4];
    struct writer *writer;
    char *text;
    struct layout_attribute attributes[3];
    memcpy(attributes, fixture_attributes, sizeof attributes);
    attributes[2].text = "[sweep]\nname = small\n; larger\n";
    folder->layout.attributes = attributes;
    assert_int_equal(writer_open(folder->store, &folder->layout, &units, out, &writer), STATUS_OK);
    assert_true(out[0].row == 2 && out[1].row == 1 && out[2].row == 2 && out[3].row == 3);
    assert_true(out[0].status == UNIT_PENDING && out[1].status == UNIT_DONE && out[1].attempts == 1);
    assert_int_equal(fixture_unit(writer, &folder->layout, 3), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    struct reader *reader = open_reader(folder);
    assert_int_equal(reader_rows(reader), 4);
    for (uint64_t row = 0; row < 4; row++)
        check_row(folder, reader, row, row != 2);
    assert_int_equal(reader_attribute(reader, "ini", &text), STATUS_OK);
    assert_string_equal(text, attributes[2].text);
    mem_free(text);
    assert_int_equal(reader_attribute(reader, "ini.1", &text), STATUS_OK);
    assert_string_equal(text, fixture_attributes[2].text);
    mem_free(text);
    reader_close(reader);
}

/* Values that stay for some rows and change, at places that have nothing to do with the file's blocks; empty ones among them. */
static enum status runs(size_t unit, size_t column, bool say, struct writer_text *out)
{
    static char text[32];
    static const size_t lengths[FIXTURE_COLUMNS] = {37, 700, 513, 1, 2000};
    const size_t length = column == WRITER_ARM ? 400 : lengths[column], run = unit / length;
    const bool number = column != WRITER_ARM && fixture_columns[column].type != LAYOUT_TEXT;
    if (number && run % 3 == 0)
        snprintf(text, sizeof text, "%s", fixture_columns[column].type == LAYOUT_REAL ? "nan" : "0");
    else if (number)
        snprintf(text, sizeof text, "%zu", run);
    else
        snprintf(text, sizeof text, run % 3 == 1 ? "" : "text %zu", run);
    *out = (struct writer_text){text, say && unit % length != 0};
    return STATUS_OK;
}

static enum status runs_said(void *context, size_t unit, size_t column, struct writer_text *out)
{
    (void)context;
    return runs(unit, column, true, out);
}

static enum status runs_not_said(void *context, size_t unit, size_t column, struct writer_text *out)
{
    (void)context;
    return runs(unit, column, false, out);
}

/* Read all the rows' texts of the columns one after the other, owned by the caller. */
static char *read_columns(const struct folder *folder, size_t count)
{
    enum { COLUMNS = FIXTURE_COLUMNS + 2, ROOM = 64 };
    struct reader *reader = open_reader(folder);
    char *all = calloc(count * COLUMNS, ROOM), **texts = calloc(count, sizeof *texts);
    assert_int_equal(reader_rows(reader), count);
    for (size_t c = 0; c < COLUMNS; c++) {
        char name[LAYOUT_NAME_SIZE];
        layout_column_name(c < FIXTURE_COLUMNS ? fixture_columns[c].name : c == FIXTURE_COLUMNS ? "arm" : "identity", name);
        assert_int_equal(reader_texts(reader, name, 0, count, texts), STATUS_OK);
        for (size_t row = 0; row < count; row++) {
            snprintf(all + (c * count + row) * ROOM, ROOM, "%s", texts[row]);
            mem_free(texts[row]);
        }
    }
    free(texts);
    reader_close(reader);
    return all;
}

/* A description may say that a value is the last one again, or not, and rows may be added at once or by and by. */
static void test_repeated_values(void **state)
{
    enum { UNITS = 2600 };
    struct folder *folder = *state;
    static struct hash identities[UNITS];
    static struct writer_unit out[UNITS];
    char *expected = NULL;
    for (size_t i = 0; i < UNITS; i++)
        identities[i] = fixture_identity(i);
    for (int way = 0; way < 4; way++) {
        const size_t steps[] = {way < 2 ? UNITS : 700, way < 2 ? UNITS : 1024, UNITS};
        for (size_t i = 0; i < 3; i++) {
            struct writer *writer;
            struct writer_units units = {.count = steps[i], .identities = identities, .describe = way % 2 ? runs_said : runs_not_said};
            assert_int_equal(writer_open(folder->store, &folder->layout, &units, out, &writer), STATUS_OK);
            assert_int_equal(writer_close(writer), STATUS_OK);
        }
        char *found = read_columns(folder, UNITS);
        if (expected)
            assert_memory_equal(found, expected, (size_t)UNITS * (FIXTURE_COLUMNS + 2) * 64);
        else
            for (size_t row = 0; row < UNITS; row++) { /* column 2 is a text, and column 0 a real number */
                struct writer_text text;
                runs(row, 2, false, &text);
                assert_string_equal(found + (2 * UNITS + row) * 64, text.text);
                runs(row, 0, false, &text);
                assert_true(row / 37 % 3 == 0 ? isnan(strtod(found + row * 64, NULL)) : strtod(found + row * 64, NULL) == atof(text.text));
            }
        free(expected);
        expected = found;
        assert_int_equal(unlink(folder->store), 0);
    }
    free(expected);
}

static void test_nothing_new_leaves_the_file_alone(void **state)
{
    struct folder *folder = *state;
    struct stat before, after;
    make_store(folder, 2, 2);
    assert_int_equal(stat(folder->store, &before), 0);
    make_store(folder, 2, 0);
    assert_int_equal(stat(folder->store, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(folder->units[1].status, UNIT_DONE);
}

static void test_new_setting_becomes_a_column(void **state)
{
    struct folder *folder = *state;
    struct layout_column columns[FIXTURE_COLUMNS + 2];
    make_store(folder, 2, 1);
    memcpy(columns, fixture_columns, sizeof fixture_columns);
    columns[FIXTURE_COLUMNS] = (struct layout_column){"extra", LAYOUT_TEXT, "", "a setting that came later"};
    columns[FIXTURE_COLUMNS + 1] = (struct layout_column){"order", LAYOUT_TEXT, "", "a setting with an axis' name"};
    folder->layout.columns = columns;
    folder->layout.column_count = FIXTURE_COLUMNS + 2;
    make_store(folder, 3, 0);
    struct reader *reader = open_reader(folder);
    check_text(reader, "extra", 1, "");
    check_text(reader, "order_setting", 2, "");
    check_row(folder, reader, 0, true);
    reader_close(reader);
}

static void test_running_after_a_crash_is_pending(void **state)
{
    struct folder *folder = *state;
    struct writer *writer = open_store(folder, 2);
    assert_int_equal(writer_status(writer, 1, UNIT_RUNNING, 1, "node", 0, 1e9, ""), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    writer = open_store(folder, 2);
    assert_int_equal(folder->units[1].status, UNIT_PENDING);
    assert_int_equal(folder->units[1].attempts, 1);
    assert_int_equal(writer_close(writer), STATUS_OK);
}

static void expect_refused(struct folder *folder, enum status code, const char *text)
{
    struct writer *writer;
    size_t before, after;
    unsigned char *bytes = fixture_load(folder->store, &before);
    assert_int_equal(fixture_open(folder->store, &folder->layout, 2, folder->units, &writer), code);
    assert_null(writer);
    if (!strstr(status_message(), text) || !strstr(status_message(), "s.h5"))
        fail_msg("\"%s\" instead of \"%s\"", status_message(), text);
    unsigned char *again = fixture_load(folder->store, &after);
    assert_int_equal(before, after);
    assert_memory_equal(bytes, again, before);
    free(bytes);
    free(again);
}

static void test_another_layout_is_refused(void **state)
{
    struct folder *folder = *state;
    static const int64_t checks[] = {100, 250, 300};
    static const char *const layers[] = {"conv1", "conv9"};
    static const double emas[] = {0.999};
    struct layout_column columns[FIXTURE_COLUMNS];
    struct layout_attribute attributes[3];
    make_store(folder, 2, 1);
    folder->layout.extent.checks = 2;
    expect_refused(folder, STATUS_VERSION, "check axis than this sweep: length 3 in the store, 2 in the sweep");
    folder->layout = fixture_layout();
    folder->layout.extent.samples = 0;
    expect_refused(folder, STATUS_VERSION, "sample axis");
    folder->layout = fixture_layout();
    folder->layout.checks = checks;
    expect_refused(folder, STATUS_VERSION, "number 1 is 200 in the store, 250 in the sweep");
    folder->layout = fixture_layout();
    folder->layout.layers = layers;
    expect_refused(folder, STATUS_VERSION, "conv2 in the store, conv9");
    folder->layout = fixture_layout();
    folder->layout.emas = emas;
    expect_refused(folder, STATUS_VERSION, "ema axis");
    folder->layout = fixture_layout();
    folder->layout.channel_layer = fixture_index;
    expect_refused(folder, STATUS_VERSION, "channel_layer axis");
    folder->layout = fixture_layout();
    memcpy(columns, fixture_columns, sizeof columns);
    columns[1].type = LAYOUT_REAL;
    folder->layout.columns = columns;
    expect_refused(folder, STATUS_VERSION, "seed is of type integer in the store, real");
    folder->layout = fixture_layout();
    memcpy(attributes, fixture_attributes, sizeof attributes);
    attributes[0].text = "other";
    folder->layout.attributes = attributes;
    expect_refused(folder, STATUS_VERSION, "another sweep: small in the store, other in this sweep");
}

static void test_other_files_are_refused_unharmed(void **state)
{
    struct folder *folder = *state;
    size_t size;
    make_store(folder, 2, 2);
    unsigned char *bytes = fixture_load(folder->store, &size);
    fixture_save(folder->store, bytes, size / 2);
    expect_refused(folder, STATUS_CORRUPT, "damaged or truncated HDF5 file: truncated file: eof = ");
    fixture_save(folder->store, "precious", 8);
    expect_refused(folder, STATUS_INPUT, "no HDF5 file");
    hid_t file = H5Fcreate(folder->store, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    expect_refused(folder, STATUS_INPUT, "no store of this program");
    fixture_save(folder->store, bytes, size);
    file = H5Fopen(folder->store, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, &(int){LAYOUT_FORMAT_VERSION + 1});
    H5Aclose(attribute);
    H5Fclose(file);
    expect_refused(folder, STATUS_VERSION, "format version 2");
    free(bytes);
}

static void test_absent_folder_is_named(void **state)
{
    struct folder *folder = *state;
    struct writer *writer;
    struct writer_unit unit;
    assert_int_equal(fixture_open("/nowhere/at/all/s.h5", &folder->layout, 1, &unit, &writer), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "/nowhere/at/all"));
    assert_non_null(strstr(status_message(), "No such file"));
    assert_int_equal(publish_run("/nowhere/at/all/s.h5"), STATUS_INPUT);
}

/* The longest path whose journal, lock and states have names, and one that leaves them none. */
static void test_path_too_long_is_refused(void **state)
{
    struct folder *folder = *state;
    struct writer *writer;
    struct writer_unit unit;
    char path[PATH_MAX], part[201];
    const size_t most = PATH_MAX - 129;
    memset(part, 'd', 200);
    part[200] = 0;
    snprintf(path, sizeof path, "%s", folder->path);
    while (strlen(path) + 1 + 200 + 2 <= most) {
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", part);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    size_t length = strlen(path);
    path[length] = '/';
    memset(path + length + 1, 's', most - length);
    path[most + 1] = 0; /* one too many */
    assert_int_equal(fixture_open(path, &folder->layout, 1, &unit, &writer), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "path is too long: 3968 characters, allowed are 3967"));
    assert_int_equal(access(path, F_OK), -1);
    path[most] = 0;
    assert_int_equal(fixture_open(path, &folder->layout, 1, &unit, &writer), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
}

static void test_vanished_folder_stops_cleanly(void **state)
{
    struct folder *folder = *state;
    char moved[80];
    struct writer *writer = open_store(folder, 2);
    snprintf(moved, sizeof moved, "%s.moved", folder->path);
    assert_int_equal(fixture_unit(writer, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_commit(writer), STATUS_OK);
    assert_int_equal(rename(folder->path, moved), 0);
    assert_int_equal(writer_close(writer), STATUS_IO);
    assert_non_null(strstr(status_message(), "No such file"));
    assert_int_equal(rename(moved, folder->path), 0);
    make_store(folder, 2, 0);
    struct reader *reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    reader_close(reader);
}

static void test_journals_that_do_not_fit_are_refused(void **state)
{
    struct folder *folder = *state;
    struct hash other = {1, 2};
    struct journal journal;
    make_store(folder, 2, 1);
    assert_int_equal(journal_create(folder->journal, other, 1, &journal), STATUS_OK);
    journal_close(&journal);
    expect_refused(folder, STATUS_VERSION, "belongs to another store");
    struct reader *reader = open_reader(folder);
    assert_int_equal(reader_journal(reader)->health, STATUS_VERSION);
    reader_close(reader);
    unlink(folder->journal);

    /* An old copy of the store beside a newer journal. */
    size_t size;
    unsigned char *old = fixture_load(folder->store, &size);
    struct writer *writer = open_store(folder, 2);
    assert_int_equal(fixture_unit(writer, &folder->layout, 1), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    writer = open_store(folder, 2);
    size_t journal_size;
    assert_int_equal(fixture_values(writer, &folder->layout, 1, GROUP_CHECK, 0), STATUS_OK);
    assert_int_equal(writer_commit(writer), STATUS_OK);
    unsigned char *bytes = fixture_load(folder->journal, &journal_size);
    assert_int_equal(writer_close(writer), STATUS_OK);
    fixture_save(folder->store, old, size);
    fixture_save(folder->journal, bytes, journal_size);
    expect_refused(folder, STATUS_CORRUPT, "old copy");
    unlink(folder->store);
    struct writer *none;
    assert_int_equal(fixture_open(folder->store, &folder->layout, 2, folder->units, &none), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "put the store back"));
    free(old);
    free(bytes);
}

static void test_damaged_journal_is_not_cut(void **state)
{
    struct folder *folder = *state;
    size_t size;
    struct writer *writer = open_store(folder, 2);
    assert_int_equal(fixture_values(writer, &folder->layout, 0, GROUP_CHECK, 0), STATUS_OK);
    assert_int_equal(writer_commit(writer), STATUS_OK);
    assert_int_equal(fixture_values(writer, &folder->layout, 0, GROUP_CHECK, 1), STATUS_OK);
    assert_int_equal(writer_commit(writer), STATUS_OK);
    unsigned char *bytes = fixture_load(folder->journal, &size);
    assert_int_equal(writer_close(writer), STATUS_OK);
    unlink(folder->store);
    make_store(folder, 2, 0);
    /* The same journal, for the new store, with one bit of the first record turned. */
    struct reader *reader = open_reader(folder);
    char *id;
    struct hash store;
    assert_int_equal(reader_attribute(reader, "store_id", &id), STATUS_OK);
    assert_true(hash_from_hex(id, &store));
    mem_free(id);
    reader_close(reader);
    memcpy(bytes + 16, &store.high, 8);
    memcpy(bytes + 24, &store.low, 8);
    uint64_t checksum = hash_checksum(bytes, JOURNAL_HEADER_SIZE - 8, 0);
    memcpy(bytes + JOURNAL_HEADER_SIZE - 8, &checksum, 8);
    bytes[JOURNAL_HEADER_SIZE + 100] ^= 4;
    fixture_save(folder->journal, bytes, size);
    expect_refused(folder, STATUS_CORRUPT, "entry at byte 48 is damaged");
    reader = open_reader(folder);
    assert_int_equal(reader_journal(reader)->health, STATUS_CORRUPT);
    reader_close(reader);
    struct verify_report report;
    assert_int_equal(verify_store(folder->store, NULL, NULL, &report), STATUS_MISMATCH);
    free(bytes);
}

/* The writer is dead; its publishing child, which shares the lock, ends within moments. */
static void test_leftover_lock_is_waited_for(void **state)
{
    struct folder *folder = *state;
    struct lock lock;
    char path[160], note[400], host[256] = "";
    int ends[2];
    snprintf(path, sizeof path, "%s.lock", folder->store);
    gethostname(host, sizeof host - 1);
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_RDWR | O_CREAT, 0600), size = snprintf(note, sizeof note, "host %s, process %ld, since then\n", host, (long)dead);
        if (fd < 0 || flock(fd, LOCK_EX) || write(fd, note, (size_t)size) != size || write(ends[1], "x", 1) != 1)
            _exit(1);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        _exit(0);
    }
    assert_int_equal(read(ends[0], note, 1), 1);
    assert_int_equal(lock_take(folder->store, &lock), STATUS_OK);
    lock_release(&lock);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
}

static void test_second_writer_learns_who_is_first(void **state)
{
    struct folder *folder = *state;
    char process[32], link[96];
    struct writer *second;
    setenv("SLURM_JOB_ID", "4711", 1);
    struct writer *writer = open_store(folder, 1);
    unsetenv("SLURM_JOB_ID");
    struct writer_unit unit;
    assert_int_equal(fixture_open(folder->store, &folder->layout, 1, &unit, &second), STATUS_LOCKED);
    snprintf(process, sizeof process, "process %d", (int)getpid());
    assert_non_null(strstr(status_message(), process));
    assert_non_null(strstr(status_message(), "job 4711"));
    assert_int_equal(publish_run(folder->store), STATUS_LOCKED);
    snprintf(link, sizeof link, "%s/link.h5", folder->path); /* another name of the same store */
    assert_int_equal(symlink(folder->store, link), 0);
    assert_int_equal(fixture_open(link, &folder->layout, 1, &unit, &second), STATUS_LOCKED);
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(fixture_open(link, &folder->layout, 1, &unit, &second), STATUS_OK);
    assert_int_equal(fixture_unit(second, &folder->layout, 0), STATUS_OK);
    assert_int_equal(writer_close(second), STATUS_OK);
    struct reader *reader = open_reader(folder);
    check_row(folder, reader, 0, true);
    reader_close(reader);
}

/* The first has the lock, and not yet written who it is. */
static void test_second_writer_waits_for_the_note(void **state)
{
    struct folder *folder = *state;
    struct lock lock;
    char path[160], byte;
    int ends[2];
    snprintf(path, sizeof path, "%s.lock", folder->store);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (fd < 0 || flock(fd, LOCK_EX) || write(ends[1], "x", 1) != 1)
            _exit(1);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        _exit(write(fd, "host a late one\n", 16) != 16 || pause());
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(lock_take(folder->store, &lock), STATUS_LOCKED);
    assert_non_null(strstr(status_message(), "(host a late one)"));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
}

static void test_stale_temporaries_go(void **state)
{
    struct folder *folder = *state;
    char stale[160], other[160];
    snprintf(stale, sizeof stale, "%s.publish.12345", folder->store);
    snprintf(other, sizeof other, "%s.publish.keep", folder->store);
    fixture_save(stale, "x", 1);
    fixture_save(other, "x", 1);
    make_store(folder, 1, 0);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    unlink(other);
}

static void test_bad_records_are_refused_at_once(void **state)
{
    struct folder *folder = *state;
    struct writer *writer = open_store(folder, 1);
    float values[256] = {0};
    struct pack pack = {0};
    size_t size = variables_record_size(GROUP_CHECK, &folder->layout.extent);
    struct record record = {.kind = RECORD_VALUES, .group = GROUP_CHECK, .index = 3, .count = (uint32_t)size, .values = values};
    assert_int_equal(record_pack(&record, &pack), STATUS_OK);
    assert_int_equal(writer_record(writer, 0, 1, 1, pack.data, pack.size), STATUS_CORRUPT);
    record.index = 2;
    pack_clear(&pack);
    assert_int_equal(record_pack(&record, &pack), STATUS_OK);
    assert_int_equal(writer_record(writer, 0, 1, 1, pack.data, pack.size - 1), STATUS_CORRUPT);
    assert_int_equal(writer_record(writer, 1, 1, 1, pack.data, pack.size), STATUS_CORRUPT);
    record.count--;
    pack_clear(&pack);
    assert_int_equal(record_pack(&record, &pack), STATUS_OK);
    assert_int_equal(writer_record(writer, 0, 1, 1, pack.data, pack.size), STATUS_CORRUPT);
    assert_int_equal(writer_status(writer, 1, UNIT_RUNNING, 1, "", 0, 0, ""), STATUS_CORRUPT);
    assert_int_equal(fixture_steps_record(writer, &folder->layout, 0, 5, 3), STATUS_CORRUPT); /* one past the last step */
    struct record two = {.kind = RECORD_VALUES, .group = GROUP_CHECK, .count = (uint32_t)(2 * size), .values = values};
    pack_clear(&pack);
    assert_int_equal(record_pack(&two, &pack), STATUS_OK); /* only what is kept comes several positions at a time */
    assert_int_equal(writer_record(writer, 0, 1, 1, pack.data, pack.size), STATUS_CORRUPT);
    assert_false(writer_pending(writer));
    pack_free(&pack);
    assert_int_equal(writer_close(writer), STATUS_OK);
}

static enum status refuse(void *context, size_t unit, size_t column, struct writer_text *out)
{
    (void)context;
    return column == 1 && unit == 1 ? status_fail(STATUS_INPUT, "not this one") : fixture_describe(NULL, unit, column, out);
}

static void test_failing_description_makes_nothing(void **state)
{
    struct folder *folder = *state;
    struct hash identities[] = {fixture_identity(0), fixture_identity(1)};
    struct writer_units units = {.count = 2, .identities = identities, .describe = refuse};
    struct writer *writer;
    assert_int_equal(writer_open(folder->store, &folder->layout, &units, folder->units, &writer), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "not this one"));
    assert_int_equal(access(folder->store, F_OK), -1);
    assert_int_equal(access(folder->journal, F_OK), -1);
}

static void keep_text(void *context, const char *text)
{
    snprintf(context, 256, "%s", text);
}

static void test_verify(void **state)
{
    struct folder *folder = *state;
    struct verify_report report;
    char text[256] = "";
    make_store(folder, 3, 2);
    assert_int_equal(verify_store(folder->store, keep_text, text, &report), STATUS_OK);
    assert_true(report.rows == 3 && report.units[UNIT_DONE] == 2 && report.units[UNIT_PENDING] == 1);
    assert_true(report.problems == 0 && report.variables > 30 && report.bytes > 1000);

    struct writer *writer = open_store(folder, 3); /* done, but with one check of three */
    assert_int_equal(fixture_values(writer, &folder->layout, 2, GROUP_CHECK, 1), STATUS_OK);
    assert_int_equal(fixture_end(writer, 2, RECORD_DONE, ""), STATUS_OK);
    assert_int_equal(writer_close(writer), STATUS_OK);
    assert_int_equal(verify_store(folder->store, keep_text, text, &report), STATUS_MISMATCH);
    assert_true(report.missing_checks == 2 && report.incomplete_units == 1 && report.problems == 1);
    assert_string_equal(text, "row 2 is done, but has 1 of 3 checks");

    /* One bit of a value turned on disk. */
    size_t size;
    unsigned char *bytes = fixture_load(folder->store, &size);
    float value = fixture_value(0, GROUP_TRACE, 3, 4);
    unsigned char *found = memmem(bytes, size, &value, sizeof value);
    assert_non_null(found);
    *found ^= 1;
    fixture_save(folder->store, bytes, size);
    assert_int_equal(verify_store(folder->store, keep_text, text, &report), STATUS_MISMATCH);
    assert_int_equal(report.problems, 2);
    free(bytes);
    assert_int_equal(verify_store("/nowhere.h5", NULL, NULL, &report), STATUS_INPUT);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "publish") == 0)
        return publish_run(argv[2]) != STATUS_OK;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_values_come_back_bit_by_bit), TEST(test_columns_and_attributes), TEST(test_axes_without_length_are_left_out),
        TEST(test_committed_shows_before_it_is_published), TEST(test_child_publishes_meanwhile), TEST(test_failed_child_loses_nothing),
        TEST(test_replay_is_harmless), TEST(test_extension_keeps_what_is_there), TEST(test_repeated_values),
        TEST(test_nothing_new_leaves_the_file_alone),
        TEST(test_new_setting_becomes_a_column), TEST(test_running_after_a_crash_is_pending), TEST(test_another_layout_is_refused),
        TEST(test_other_files_are_refused_unharmed), TEST(test_absent_folder_is_named), TEST(test_path_too_long_is_refused),
        TEST(test_vanished_folder_stops_cleanly),
        TEST(test_journals_that_do_not_fit_are_refused), TEST(test_damaged_journal_is_not_cut), TEST(test_leftover_lock_is_waited_for),
        TEST(test_second_writer_learns_who_is_first), TEST(test_second_writer_waits_for_the_note),
        TEST(test_stale_temporaries_go), TEST(test_bad_records_are_refused_at_once), TEST(test_failing_description_makes_nothing),
        TEST(test_verify),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

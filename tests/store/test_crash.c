/* Writers that are killed, and file systems that are full: what was acknowledged is there. */
#include "fixture.h"

#include "bnsweep/store/publish.h"
#include "bnsweep/store/reader_unit.h"
#include "bnsweep/store/verify.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { UNITS = 4, KILLS = 50 };

static bool killed_run_wrote(const struct reader *reader, const struct layout *layout, uint64_t row, uint32_t index)
{
    float values[FIXTURE_CHECKS * FIXTURE_CHANNELS];
    size_t offset = variables_offset(VARIABLE_angle, &layout->extent);
    assert_int_equal(reader_values(reader, VARIABLE_angle, row, 1, values), STATUS_OK);
    for (size_t i = 0; i < FIXTURE_CHANNELS; i++) {
        float expected = fixture_value(row, GROUP_CHECK, index, offset + i);
        if (memcmp(&values[index * FIXTURE_CHANNELS + i], &expected, sizeof expected) != 0)
            return false;
    }
    return true;
}

/* Open, and wait while a publishing child of a killed writer still holds the lock. */
static enum status open_waiting(const char *store, const struct layout *layout, struct writer_unit *units, struct writer **writer)
{
    enum status status;
    while ((status = fixture_open(store, layout, UNITS, units, writer)) == STATUS_LOCKED)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return status;
}

/* What the killed process does: write checks over and over, tell each after its commit, publish in between. */
static void write_forever(const char *store, int tell)
{
    struct layout layout = fixture_layout();
    struct writer_unit units[UNITS];
    struct writer *writer;
    char publish[] = "publish", path[128];
    char *argv[] = {publish, publish, path, NULL};
    snprintf(path, sizeof path, "%s", store);
    if (open_waiting(store, &layout, units, &writer))
        _exit(3);
    for (unsigned turn = 0;; turn++) {
        unsigned char name = (unsigned char)(turn % (UNITS * FIXTURE_CHECKS));
        bool finished = false;
        if (fixture_values(writer, &layout, units[name / FIXTURE_CHECKS].row, GROUP_CHECK, name % FIXTURE_CHECKS) || writer_commit(writer))
            _exit(4);
        if (write(tell, &name, 1) != 1)
            _exit(5);
        if (writer_publish_poll(writer, &finished))
            _exit(6);
        if ((turn == 0 || finished) && writer_publish_start(writer, argv))
            _exit(7);
    }
}

static void test_killed_writers_lose_nothing(void **state)
{
    (void)state;
    struct layout layout = fixture_layout();
    struct writer_unit units[UNITS];
    char folder[64], store[80];
    bool told[UNITS * FIXTURE_CHECKS] = {false};
    unsigned total = 0;
    fixture_folder(folder);
    snprintf(store, sizeof store, "%s/s.h5", folder);
    srand(1);
    for (int kill_number = 0; kill_number < KILLS; kill_number++) {
        int ends[2], result;
        unsigned char name;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            write_forever(store, ends[1]);
        }
        close(ends[1]);
        if (kill_number % 5) /* most after the first word, some while opening */
            assert_int_equal(read(ends[0], &name, 1), 1);
        else
            name = 255;
        if (name != 255)
            told[name] = true;
        nanosleep(&(struct timespec){.tv_nsec = 1000 * (rand() % 30000)}, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));
        while (read(ends[0], &name, 1) == 1) {
            told[name] = true;
            total++;
        }
        close(ends[0]);
        struct writer *writer;
        assert_int_equal(open_waiting(store, &layout, units, &writer), STATUS_OK);
        assert_int_equal(writer_close(writer), STATUS_OK);
        struct reader *reader;
        assert_int_equal(reader_open(store, &reader), STATUS_OK);
        for (uint32_t i = 0; i < UNITS * FIXTURE_CHECKS; i++)
            if (told[i])
                assert_true(killed_run_wrote(reader, &layout, i / FIXTURE_CHECKS, i % FIXTURE_CHECKS));
        reader_close(reader);
        struct verify_report report;
        assert_int_equal(verify_store(store, NULL, NULL, &report), STATUS_OK);
        assert_int_equal(fixture_count(folder, ".publish."), 0);
    }
    assert_true(total > KILLS);
    fixture_remove(folder);
}

static void test_full_file_system(void **state)
{
    (void)state;
    struct layout layout = fixture_layout();
    struct writer_unit units[UNITS];
    struct writer *writer;
    struct reader *reader;
    char folder[64], store[80], filler[80];
    fixture_folder(folder);
    if (geteuid() != 0 || mount("none", folder, "tmpfs", 0, "size=16m")) {
        fixture_remove(folder);
        skip();
    }
    snprintf(store, sizeof store, "%s/s.h5", folder);
    snprintf(filler, sizeof filler, "%s/filler", folder);
    enum status opened = fixture_open(store, &layout, UNITS, units, &writer);
    enum status first = fixture_unit(writer, &layout, 0), committed = writer_commit(writer);
    /* Fill the rest. */
    static const char page[4096];
    int fd = open(filler, O_WRONLY | O_CREAT, 0666);
    while (write(fd, page, sizeof page) > 0)
        ;
    close(fd);
    enum status second = STATUS_OK;
    uint32_t acknowledged = 0;
    char message[512] = "", closing[512] = "";
    while (!second && acknowledged < 100000) { /* into the last page of the journal, then no further */
        second = fixture_values(writer, &layout, 1, GROUP_CHECK, acknowledged % FIXTURE_CHECKS);
        if (!second)
            second = writer_commit(writer);
        acknowledged += !second;
    }
    snprintf(message, sizeof message, "%s", status_message());
    enum status closed = writer_close(writer);
    snprintf(closing, sizeof closing, "%s", status_message());
    /* Publishing what the journal holds does not fit either. */
    enum status published = publish_run(store);
    char publishing[512];
    snprintf(publishing, sizeof publishing, "%s", status_message());
    int temporaries = fixture_count(folder, ".publish.");
    struct reader_unit listed[UNITS];
    enum status read = reader_open(store, &reader);
    if (!read)
        read = reader_unit_list(reader, 0, UNITS, listed);
    bool shows = !read && listed[0].status == UNIT_DONE && listed[0].checks == 3;
    if (!read) {
        reader_unit_free(listed, UNITS);
        reader_close(reader);
    }
    /* Space again: it goes on by itself. */
    unlink(filler);
    enum status again = fixture_open(store, &layout, UNITS, units, &writer);
    if (!again)
        again = writer_close(writer);
    struct verify_report report = {0};
    enum status verified = verify_store(store, NULL, NULL, &report);
    bool there = !reader_open(store, &reader);
    if (there)
        for (uint32_t i = 0; i < FIXTURE_CHECKS; i++)
            there = there && killed_run_wrote(reader, &layout, 0, i) && (i >= acknowledged || killed_run_wrote(reader, &layout, 1, i));
    reader_close(reader);
    umount(folder);
    fixture_remove(folder);
    assert_true(!opened && !first && !committed);
    assert_int_equal(second, STATUS_IO);
    assert_non_null(strstr(message, strerror(ENOSPC)));
    assert_int_equal(closed, STATUS_IO);
    assert_true(closing[0]);
    assert_int_equal(published, STATUS_IO);
    assert_non_null(strstr(publishing, strerror(ENOSPC)));
    assert_int_equal(temporaries, 0);
    assert_true(shows);
    assert_int_equal(again, STATUS_OK);
    assert_int_equal(verified, STATUS_OK);
    assert_true(there);
}

static void test_read_only_file_system(void **state)
{
    (void)state;
    struct layout layout = fixture_layout();
    struct writer_unit units[UNITS];
    struct writer *writer;
    char folder[64], store[80];
    fixture_folder(folder);
    if (geteuid() != 0 || mount("none", folder, "tmpfs", 0, "size=16m")) {
        fixture_remove(folder);
        skip();
    }
    snprintf(store, sizeof store, "%s/s.h5", folder);
    enum status opened = fixture_open(store, &layout, UNITS, units, &writer);
    if (!opened)
        opened = writer_close(writer);
    int remounted = mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=16m");
    enum status writing = fixture_open(store, &layout, UNITS, units, &writer);
    char message[512];
    snprintf(message, sizeof message, "%s", status_message());
    struct verify_report report;
    enum status reading = verify_store(store, NULL, NULL, &report);
    umount(folder);
    fixture_remove(folder);
    assert_int_equal(opened, STATUS_OK);
    assert_int_equal(remounted, 0);
    assert_int_equal(writing, STATUS_IO);
    assert_non_null(strstr(message, strerror(EROFS)));
    assert_int_equal(reading, STATUS_OK);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "publish") == 0)
        return publish_run(argv[2]) != STATUS_OK;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_writers_lose_nothing),
        cmocka_unit_test(test_full_file_system),
        cmocka_unit_test(test_read_only_file_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

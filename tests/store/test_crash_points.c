/* A writer and its publishing child end, or a call of theirs fails, at every call that changes a file: nothing acknowledged is lost, and
 * the next writer goes on by itself. Without arguments every 31st call, `long [N]`: every (Nth) call. Recoveries are ended too. */
#include "crash_records.h"

#include "../support/crash_counter.h"

#include "bnsweep/store/reader_unit.h"
#include "bnsweep/store/verify.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { LIMIT_SECONDS = 300, SHORT_STRIDE = 31 };

static bool is_long;
static uint32_t stride = SHORT_STRIDE;

struct place {
    char folder[64], store[96], told[96], counter_path[96];
    char beside[64]; /* for what the writer says, outside of the folder that is attacked */
    struct crash_counter *counter;
};

struct tally {
    unsigned points, ended, errors, refused, told, lost;
};

static void make_place(struct place *place)
{
    fixture_folder(place->folder);
    fixture_folder(place->beside);
    snprintf(place->store, sizeof place->store, "%s/s.h5", place->folder);
    snprintf(place->told, sizeof place->told, "%s/told", place->beside);
    snprintf(place->counter_path, sizeof place->counter_path, "%s/counter", place->beside);
    int fd = open(place->counter_path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0 && ftruncate(fd, sizeof *place->counter) == 0);
    place->counter = mmap(NULL, sizeof *place->counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(place->counter != MAP_FAILED);
    close(fd);
    fixture_save(place->told, "", 0);
}

static void remove_place(struct place *place)
{
    munmap(place->counter, sizeof *place->counter);
    fixture_remove(place->folder);
    fixture_remove(place->beside);
}

/* Run the driver, with the shim where `how` is given; return its wait status. It may take LIMIT_SECONDS. */
static int drive(const struct place *place, const char *task, uint32_t at, const char *how, const char *span)
{
    memset(place->counter, 0, sizeof *place->counter);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char number[16];
        snprintf(number, sizeof number, "%u", at);
        setenv("LD_PRELOAD", CRASH_SHIM, 1);
        setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
        setenv("CRASH_COUNTER", place->counter_path, 1);
        setenv("CRASH_BELOW", place->folder, 1);
        setenv("CRASH_AT", number, 1);
        setenv("CRASH_HOW", how, 1);
        setenv("CRASH_FOR", span, 1);
        if (!getenv("CRASH_TALK"))
            (void)!freopen("/dev/null", "w", stderr);
        alarm(LIMIT_SECONDS);
        execl(CRASH_DRIVER, "crash_driver", task, place->store, strcmp(task, "write") == 0 ? place->told : NULL, NULL);
        _exit(99);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    if (WIFSIGNALED(result) && WTERMSIG(result) == SIGALRM)
        fail_msg("%s hangs when call %u goes wrong (%s)", task, at, how);
    return result;
}

static bool is_there(const struct reader *reader, unsigned char number)
{
    struct layout layout = fixture_layout();
    float values[FIXTURE_CHECKS * FIXTURE_CHANNELS];
    size_t offset = variables_offset(VARIABLE_angle, &layout.extent), row = crash_unit(number);
    uint32_t check = crash_check(number);
    assert_int_equal(reader_values(reader, VARIABLE_angle, row, 1, values), STATUS_OK);
    for (size_t i = 0; i < FIXTURE_CHANNELS; i++) {
        float expected = fixture_value(row, GROUP_CHECK, check, offset + i);
        if (memcmp(&values[check * FIXTURE_CHANNELS + i], &expected, sizeof expected) != 0)
            return false;
    }
    return true;
}

/* After a recovery that nothing disturbed: all that was told is there, nothing else lies about. */
static void judge(const struct place *place, uint32_t at, const char *how, struct tally *tally)
{
    size_t told;
    struct reader *reader;
    struct verify_report report;
    unsigned char *numbers = fixture_load(place->told, &told);
    assert_int_equal(reader_open(place->store, &reader), STATUS_OK);
    for (size_t i = 0; i < told; i++) {
        bool there = is_there(reader, numbers[i]);
        tally->lost += !there;
        if (!there)
            print_error("record %u was acknowledged and is lost (call %u, %s)\n", numbers[i], at, how);
    }
    tally->told += (unsigned)told;
    reader_close(reader);
    free(numbers);
    assert_int_equal(verify_store(place->store, NULL, NULL, &report), STATUS_OK);
    assert_int_equal(fixture_count(place->folder, "s.h5"), 1); /* no journal, lock or temporary */
}

static void recover_and_judge(const struct place *place, uint32_t at, const char *how, struct tally *tally)
{
    int result = drive(place, "recover", 0, "none", "0");
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
        fail_msg("call %u (%s): the next writer does not go on by itself: wait status %d", at, how, result);
    judge(place, at, how, tally);
}

/* One attack on the writer at call `at`; false where it makes fewer calls. */
static bool attack(uint32_t at, const char *how, const char *span, uint32_t second, struct tally *tally)
{
    struct place place;
    make_place(&place);
    int result = drive(&place, "write", at, how, span);
    bool met = place.counter->calls >= at;
    tally->points += met;
    tally->ended += place.counter->met != 0;
    tally->errors += WIFEXITED(result) && WEXITSTATUS(result) != 0;
    if (WIFEXITED(result) && WEXITSTATUS(result) > 1)
        fail_msg("call %u (%s): exit status %d", at, how, WEXITSTATUS(result));
    if (second)
        drive(&place, "recover", second, how, span);
    recover_and_judge(&place, at, how, tally);
    remove_place(&place);
    return met;
}

static void show(const char *what, const struct tally *tally)
{
    print_message("%s: %u points, ended at %u of them, stopped with an error at %u; %u records acknowledged, %u lost\n", what,
                  tally->points, tally->ended, tally->errors, tally->told, tally->lost);
    assert_int_equal(tally->lost, 0);
}

static void test_undisturbed(void **state)
{
    (void)state;
    struct place place;
    struct tally tally = {0};
    make_place(&place);
    assert_int_equal(drive(&place, "write", 0, "none", "0"), 0);
    print_message("a run makes %u calls:", place.counter->calls);
#define X(name) print_message(" %u " #name, place.counter->kinds[CRASH_##name]);
    CRASH_CALLS(X)
#undef X
    print_message("\n");
    assert_true(place.counter->kinds[CRASH_rename] >= 6 && place.counter->kinds[CRASH_fdatasync] >= CRASH_RECORDS / CRASH_COMMIT);
    judge(&place, 0, "undisturbed", &tally);
    assert_int_equal(tally.told, CRASH_RECORDS);
    remove_place(&place);
}

static void test_ended_at_each_call(void **state)
{
    (void)state;
    static const char *const ways[] = {"before", "half", "after"};
    for (unsigned way = 0; way < 3; way++) {
        struct tally tally = {0};
        uint32_t at = 1 + way * stride / 3;
        while (attack(at, ways[way], "0", 0, &tally))
            at += stride;
        show(ways[way], &tally);
        assert_true(tally.ended > tally.points / 2 && tally.points > 5);
    }
}

/* A call fails once, or from some call on for the rest of the process' life (a full or broken disk). */
static void test_errors_at_each_call(void **state)
{
    (void)state;
    static const struct {
        int number;
        const char *span;
    } ways[] = {{ENOSPC, "1"}, {EIO, "1"}, {ENOSPC, "0"}, {EIO, "0"}};
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
        struct tally tally = {0};
        char how[16], what[64];
        snprintf(how, sizeof how, "%d", ways[way].number);
        snprintf(what, sizeof what, "%s %s", strerror(ways[way].number), ways[way].span[0] == '1' ? "once" : "from then on");
        uint32_t step = is_long ? stride : 2 * stride, at = 1 + way * step / 4;
        while (attack(at, how, ways[way].span, 0, &tally))
            at += step;
        show(what, &tally);
        assert_true(tally.points > 2);
    }
}

/* The recovery is ended as well, at a random place, before another recovers. */
static void test_ended_recoveries(void **state)
{
    (void)state;
    static const char *const ways[] = {"before", "half", "after"};
    struct tally tally = {0};
    unsigned seed = is_long ? (unsigned)time(NULL) : 1;
    print_message("seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < (is_long ? 200 : 4); i++)
        attack(1 + (uint32_t)rand() % 600, ways[i % 3], "0", 1 + (uint32_t)rand() % 200, &tally);
    show("and the recovery too", &tally);
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    if (is_long)
        stride = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed),
        cmocka_unit_test(test_ended_at_each_call),
        cmocka_unit_test(test_errors_at_each_call),
        cmocka_unit_test(test_ended_recoveries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The two ends of the pipe: child.c here, trainer.c in the fake training process. No MPI. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bnsweep/mpi/child.h"
#include "bnsweep/mpi/signals.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a child said until its end. */
struct story {
    unsigned records;
    size_t bytes;
    enum wire_tag end;
    char reason[512];
};

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct child *spawn(const char *job, double hang_seconds, double stop_seconds)
{
    static char name[] = "fake_trainer";
    char *arguments[] = {name, NULL};
    struct child_config config = {.program = FAKE_TRAINER, .arguments = arguments, .hang_seconds = hang_seconds,
                                  .stop_seconds = stop_seconds};
    struct wire_message message = {.tag = WIRE_JOB, .trajectory = 4, .attempt = 2, .bytes = job, .size = strlen(job)};
    struct child *child;
    assert_int_equal(child_spawn(&config, &message, seconds_now(), &child), STATUS_OK);
    return child;
}

/* Listen until the end; acknowledge all records up to `acknowledged`; ask it to stop after `stop_after` records (0: never). */
static struct story hear_with(struct child *child, unsigned acknowledged, unsigned stop_after,
                              void (*stop)(struct child *child, double now))
{
    struct story story = {0};
    struct wire_message message;
    while (!story.end) {
        if (!child_poll(child, seconds_now(), true, &message)) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            continue;
        }
        assert_true(message.trajectory == 4 && message.attempt == 2);
        if (message.tag == WIRE_RECORD) {
            assert_int_equal(message.number, ++story.records);
            story.bytes += message.size;
            if (message.number <= acknowledged)
                child_acknowledge(child, message.number);
            if (story.records == stop_after)
                stop(child, seconds_now());
        } else if (message.tag != WIRE_PROGRESS) {
            story.end = message.tag;
            snprintf(story.reason, sizeof story.reason, "%s", message.text ? message.text : "");
        }
    }
    child_free(child);
    return story;
}

static struct story hear(struct child *child, unsigned stop_after)
{
    return hear_with(child, UINT_MAX, stop_after, child_stop);
}

static struct story tell_story(const char *job)
{
    return hear(spawn(job, 1, 1), 0);
}

static void records_come_whole(void **state)
{
    (void)state;
    struct story story = tell_story("ok 0 0 20 300000 - 1 2 3"); /* each record longer than a pipe holds */
    assert_int_equal(story.end, WIRE_FINISHED);
    assert_int_equal(story.records, 63);
    assert_int_equal(story.bytes, 63 * 300000);
}

static void each_end_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *reason;
    } ends[] = {
        {"segv", "killed by signal 11 (Segmentation fault)"},
        {"kill", "killed by signal 9 (Killed): out of memory?"},
        {"exit0", "ended without having finished"},
        {"exit3", "the data file is gone (exit status 3)"},
        {"hang", "no progress for 1 s"},
        {"garbage", "wrote something else than messages"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char job[64];
        snprintf(job, sizeof job, "%s 9 0 5 10 - 1", ends[i].mode);
        struct story story = tell_story(job);
        assert_int_equal(story.end, WIRE_FAILED);
        assert_int_equal(story.records, 1);
        assert_ptr_equal(strstr(story.reason, ends[i].reason), story.reason);
    }
}

static void the_environment_is_clean(void **state)
{
    (void)state;
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    setenv("PMIX_RANK", "1", 1);
    int leak = dup(STDERR_FILENO); /* inheritable */
    struct story story = tell_story("env 9 0 1 1 - 1");
    assert_string_equal(story.reason, "");
    assert_int_equal(story.end, WIRE_FINISHED);
    story = tell_story("descriptors 9 0 1 1 - 1");
    assert_string_equal(story.reason, "");
    assert_int_equal(story.end, WIRE_FINISHED);
    close(leak);
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMIX_RANK");
}

/* A state is saved once the records before it are acknowledged, and going on starts there. */
static void a_stop_saves_the_state(void **state)
{
    (void)state;
    char folder[] = "/tmp/bnsweep-child-XXXXXX", path[64], job[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    snprintf(job, sizeof job, "ok 0 20 40 10 %s 1", path);
    struct story first = hear(spawn(job, 5, 5), 3);
    assert_int_equal(first.end, WIRE_STOPPED);
    assert_in_range(first.records, 3, 40);
    snprintf(job, sizeof job, "ok 0 0 40 10 %s 1", path);
    struct story second = tell_story(job);
    assert_int_equal(second.end, WIRE_FINISHED);
    assert_int_equal(first.records + second.records, 41);
    unlink(path);
    rmdir(folder);
}

/* A halted child saves what is on disk and does not wait for what will not be: its patience, of 10 s, would have it killed first. */
static void a_halt_ends_the_waiting(void **state)
{
    (void)state;
    char folder[] = "/tmp/bnsweep-child-XXXXXX", before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(close(creat("hold", 0600)), 0); /* it is stopped behind its fourth record */
    struct story story = hear_with(spawn("ok 0 0 40 10 state 1", 5, 5), 3, 4, child_halt);
    assert_int_equal(story.end, WIRE_FAILED);
    assert_string_equal(story.reason, "not all records are on disk (exit status 1)");
    assert_int_not_equal(access("state", F_OK), 0);
    assert_int_equal(hear_with(spawn("ok 0 0 40 10 state 1", 5, 5), 4, 4, child_halt).end, WIRE_STOPPED);
    assert_int_equal(access("state", F_OK), 0);
    unlink("state");
    unlink("hold");
    assert_int_equal(chdir(before), 0);
    rmdir(folder);
}

static void who_does_not_stop_is_killed(void **state)
{
    (void)state;
    struct story story = hear(spawn("deaf 9 10 100 10 - 1", 10, 0.2), 2);
    assert_int_equal(story.end, WIRE_STOPPED); /* what it saved earlier counts */
}

/* While nobody listens, the child waits, is not taken for hung, and loses nothing. */
static void a_closed_ear_holds_the_child(void **state)
{
    (void)state;
    struct child *child = spawn("ok 0 0 50 100000 - 1", 0.5, 1);
    struct wire_message message;
    for (double until = seconds_now() + 1.2; seconds_now() < until;) {
        assert_false(child_poll(child, seconds_now(), false, &message));
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    struct story story = hear(child, 0);
    assert_int_equal(story.end, WIRE_FINISHED);
    assert_int_equal(story.records, 51);
}

static void a_missing_program_is_an_error(void **state)
{
    (void)state;
    char *arguments[] = {NULL};
    struct child_config config = {.program = "/nonexistent/program", .arguments = arguments};
    struct child *child;
    assert_int_equal(child_spawn(&config, &(struct wire_message){.tag = WIRE_JOB}, 0, &child), STATUS_IO);
    assert_null(child);
    assert_non_null(strstr(status_message(), "/nonexistent/program"));
}

static void started_by_hand_it_refuses(void **state)
{
    (void)state;
    int status = system(FAKE_TRAINER " 3<&- 4>&- 2>/dev/null");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_whole), cmocka_unit_test(each_end_is_named), cmocka_unit_test(the_environment_is_clean),
        cmocka_unit_test(a_stop_saves_the_state), cmocka_unit_test(a_halt_ends_the_waiting), cmocka_unit_test(who_does_not_stop_is_killed),
        cmocka_unit_test(a_closed_ear_holds_the_child), cmocka_unit_test(a_missing_program_is_an_error),
        cmocka_unit_test(started_by_hand_it_refuses)};
    signals_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

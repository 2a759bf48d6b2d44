/* Single decisions of the manager; test_simulate.c drives it as a whole. Actions are written into a log that the tests compare. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bnsweep/measure/record.h"
#include "bnsweep/mpi/manager.h"

#include <stdio.h>
#include <string.h>

static const struct manager_trajectory trajectories[] = {
    {.seconds = 100, .first_unit = 0, .units = 2},
    {.seconds = 50, .first_unit = 2, .units = 1, .attempts = 4},
    {.seconds = 10, .first_unit = 3, .units = 1},
};
static const uint32_t rows[] = {10, 12, 7, 3};

struct bench {
    struct manager_config config;
    struct manager *manager;
    char log[4096];
    const char *fail; /* the action that fails: "persist", "unit", or a message's name */
    double now;
};

__attribute__((format(printf, 2, 3))) static void write_log(struct bench *bench, const char *format, ...)
{
    size_t length = strlen(bench->log);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bench->log + length, sizeof bench->log - length, format, arguments);
    va_end(arguments);
}

static enum status outcome(const struct bench *bench, const char *action)
{
    return bench->fail && !strcmp(bench->fail, action) ? status_fail(STATUS_IO, "%s fails", action) : STATUS_OK;
}

static enum status on_send(void *context, uint32_t worker, const struct wire_message *message)
{
    struct bench *bench = context;
    enum status status = outcome(bench, wire_name(message->tag));
    if (status)
        return status;
    if (message->tag == WIRE_JOB)
        write_log(bench, "job %u/%u to %u; ", message->trajectory, message->attempt, worker);
    else if (message->tag == WIRE_ACK)
        write_log(bench, "ack %u/%u:%u to %u; ", message->trajectory, message->attempt, message->number, worker);
    else
        write_log(bench, "%s to %u; ", wire_name(message->tag), worker);
    return STATUS_OK;
}

static enum status on_persist(void *context, const struct wire_message *record)
{
    struct bench *bench = context;
    write_log(bench, "persist %u/%u:%u; ", record->row, record->attempt, record->number);
    return outcome(bench, "persist");
}

static enum status on_unit(void *context, const struct manager_unit *unit)
{
    static const char *const names[] = {
#define X(name, text) text,
        MANAGER_UNIT_STATES(X)
#undef X
    };
    struct bench *bench = context;
    if (unit->state != MANAGER_UNIT_RUNNING)
        write_log(bench, "%u %s%s%s; ", unit->row, names[unit->state], unit->reason[0] ? ": " : "", unit->reason);
    return outcome(bench, "unit");
}

static void on_given_up(void *context, uint32_t worker, const char *reason)
{
    write_log(context, "%u given up: %s; ", worker, reason);
}

static void set_up(struct bench *bench, uint32_t workers)
{
    *bench = (struct bench){.config = {.trajectories = trajectories, .trajectory_count = 3, .rows = rows, .unit_count = 4,
                                       .workers = workers, .max_attempts = 3, .ping_seconds = 1000, .silent_seconds = 300}};
}

static void begin(struct bench *bench)
{
    struct manager_actions actions = {bench, on_send, on_persist, on_unit, on_given_up};
    assert_int_equal(manager_create(&bench->config, &actions, bench->now, &bench->manager), STATUS_OK);
}

/* Compare what was done since the last time. */
static void expect(struct bench *bench, const char *log)
{
    assert_string_equal(bench->log, log);
    bench->log[0] = 0;
}

static enum status tell(struct bench *bench, uint32_t worker, enum wire_tag tag, uint32_t t, uint32_t attempt, uint32_t number)
{
    struct wire_message message = {.tag = tag, .trajectory = t, .attempt = attempt, .number = number, .text = "why"};
    return manager_message(bench->manager, worker, &message, bench->now);
}

static void hello(struct bench *bench, uint32_t worker)
{
    assert_int_equal(tell(bench, worker, WIRE_HELLO, 0, 0, 0), STATUS_OK);
}

static void hello_from(struct bench *bench, uint32_t worker, const char *host)
{
    struct wire_message message = {.tag = WIRE_HELLO, .text = host};
    assert_int_equal(manager_message(bench->manager, worker, &message, bench->now), STATUS_OK);
}

static enum status record(struct bench *bench, uint32_t worker, uint32_t t, uint32_t attempt, uint32_t number, uint32_t row,
                          enum record_kind kind)
{
    uint8_t byte = (uint8_t)kind;
    struct wire_message message = {.tag = WIRE_RECORD, .trajectory = t, .attempt = attempt, .number = number, .row = row,
                                   .bytes = &byte, .size = 1};
    return manager_message(bench->manager, worker, &message, bench->now);
}

static void work_goes_out_in_order(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 4);
    begin(&bench);
    hello(&bench, 2);
    hello(&bench, 0);
    hello(&bench, 0); /* said twice, heard once */
    hello(&bench, 1);
    hello(&bench, 3);
    expect(&bench, "job 0/1 to 2; job 1/5 to 0; job 2/1 to 1; "); /* numbering goes on behind four earlier attempts */
    manager_free(bench.manager);
}

static void acknowledged_once_on_disk(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    expect(&bench, "job 0/1 to 0; ");
    assert_int_equal(record(&bench, 0, 0, 1, 1, 10, RECORD_VALUES), STATUS_OK);
    assert_int_equal(record(&bench, 0, 0, 1, 2, 12, RECORD_VALUES), STATUS_OK);
    assert_int_equal(record(&bench, 0, 0, 1, 3, 10, RECORD_END), STATUS_OK);
    assert_int_equal(record(&bench, 0, 0, 1, 2, 12, RECORD_VALUES), STATUS_OK); /* again, and not yet on disk */
    expect(&bench, "persist 10/1:1; persist 12/1:2; persist 10/1:3; ");
    assert_int_equal(manager_persisted(bench.manager, 2, 0), STATUS_OK);
    expect(&bench, "ack 0/1:2 to 0; ");
    assert_int_equal(record(&bench, 0, 0, 1, 1, 10, RECORD_VALUES), STATUS_OK); /* again, and on disk */
    expect(&bench, "ack 0/1:2 to 0; ");
    assert_int_equal(manager_persisted(bench.manager, 3, 0), STATUS_OK);
    expect(&bench, "ack 0/1:3 to 0; ");
    assert_int_equal(manager_persisted(bench.manager, 4, 0), STATUS_INTERNAL); /* more than there were */
    manager_free(bench.manager);
}

static void failures_are_retried_then_given_up(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    expect(&bench, "job 0/1 to 0; ");
    assert_int_equal(record(&bench, 0, 0, 1, 1, 10, RECORD_END), STATUS_OK);
    expect(&bench, "persist 10/1:1; ");
    tell(&bench, 0, WIRE_FAILED, 0, 1, 0);
    expect(&bench, "12 pending: why; job 0/2 to 0; "); /* unit 10 has ended */
    tell(&bench, 0, WIRE_FAILED, 0, 1, 0);             /* the attempt before */
    expect(&bench, "");
    assert_int_equal(record(&bench, 0, 0, 2, 1, 10, RECORD_END), STATUS_OK); /* once is enough */
    expect(&bench, "");
    assert_int_equal(manager_persisted(bench.manager, 1, 0), STATUS_OK);
    expect(&bench, "ack 0/1:1 to 0; ack 0/2:1 to 0; ");
    assert_int_equal(record(&bench, 0, 0, 1, 2, 12, RECORD_END), STATUS_OK); /* of a given-up attempt: dropped */
    expect(&bench, "ack 0/1:2 to 0; ");
    tell(&bench, 0, WIRE_STOPPED, 0, 2, 0); /* nobody asked for it */
    expect(&bench, "12 pending: stopped without being asked to; job 0/3 to 0; ");
    tell(&bench, 0, WIRE_FAILED, 0, 3, 0);
    expect(&bench, "12 failed: why; job 1/5 to 0; "); /* the others go on */
    manager_free(bench.manager);
}

/* One bad worker must not use up a trajectory's attempts, and a bad host neither. */
static void retries_go_elsewhere(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    begin(&bench);
    hello_from(&bench, 0, "a");
    hello_from(&bench, 1, "a");
    expect(&bench, "job 0/1 to 0; job 1/5 to 1; ");
    tell(&bench, 0, WIRE_FAILED, 0, 1, 0);
    expect(&bench, "10 pending: why; 12 pending: why; job 2/1 to 0; "); /* another one, though retries come first */
    tell(&bench, 0, WIRE_FAILED, 2, 1, 0);
    expect(&bench, "3 pending: why; "); /* what is left is for worker 1 */
    tell(&bench, 1, WIRE_FAILED, 1, 5, 0);
    expect(&bench, "7 pending: why; job 0/2 to 1; job 1/6 to 0; ");
    tell(&bench, 1, WIRE_FAILED, 0, 2, 0);
    expect(&bench, "10 pending: why; 12 pending: why; job 2/2 to 1; ");
    manager_lost(bench.manager, 1, "gone", 0);
    expect(&bench, "3 pending: gone; ");
    tell(&bench, 0, WIRE_FAILED, 1, 6, 0);
    expect(&bench, "7 pending: why; job 0/3 to 0; "); /* nobody else is left */
    manager_free(bench.manager);
}

static void retries_go_to_other_hosts(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 3);
    begin(&bench);
    hello_from(&bench, 0, "a");
    hello_from(&bench, 1, "a");
    hello_from(&bench, 2, "b");
    expect(&bench, "job 0/1 to 0; job 1/5 to 1; job 2/1 to 2; ");
    tell(&bench, 0, WIRE_FAILED, 0, 1, 0);
    tell(&bench, 1, WIRE_FAILED, 1, 5, 0);
    expect(&bench, "10 pending: why; 12 pending: why; 7 pending: why; ");
    tell(&bench, 2, WIRE_FAILED, 2, 1, 0);
    expect(&bench, "3 pending: why; job 0/2 to 2; job 2/2 to 1; ");
    tell(&bench, 2, WIRE_LEAVING, 0, 0, 0);
    expect(&bench, "job 1/6 to 0; "); /* host b is no more */
    manager_free(bench.manager);
}

static void a_worker_on_which_all_crashes_is_held(void **state)
{
    (void)state;
    struct bench bench;
    struct manager_progress progress;
    set_up(&bench, 2);
    bench.config.suspect_after = 2;
    begin(&bench);
    hello(&bench, 0);
    hello(&bench, 1);
    tell(&bench, 0, WIRE_FAILED, 0, 1, 0);
    assert_false(manager_is_held(bench.manager, 0));
    tell(&bench, 0, WIRE_FAILED, 2, 1, 0);
    assert_true(manager_is_held(bench.manager, 0));
    manager_get_progress(bench.manager, &progress);
    assert_int_equal(progress.held, 1);
    bench.log[0] = 0;
    record(&bench, 1, 1, 5, 1, 7, RECORD_END);
    tell(&bench, 1, WIRE_FINISHED, 1, 5, 1);
    expect(&bench, "persist 7/5:1; job 0/2 to 1; ");
    tell(&bench, 1, WIRE_FAILED, 0, 2, 0); /* it was the trajectory after all */
    assert_false(manager_is_held(bench.manager, 0));
    expect(&bench, "10 pending: why; 12 pending: why; job 2/2 to 1; job 0/3 to 0; ");
    manager_free(bench.manager);
}

/* Where everything crashes everywhere, units fail, and nobody waits for ever. */
static void never_all_workers_are_held(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    bench.config.suspect_after = 1;
    begin(&bench);
    hello(&bench, 0);
    hello(&bench, 1);
    expect(&bench, "job 0/1 to 0; job 1/5 to 1; ");
    tell(&bench, 0, WIRE_FAILED, 0, 1, 0);
    assert_true(manager_is_held(bench.manager, 0));
    tell(&bench, 1, WIRE_LEAVING, 0, 0, 0);
    assert_false(manager_is_held(bench.manager, 0));
    expect(&bench, "10 pending: why; 12 pending: why; job 0/2 to 0; ");
    tell(&bench, 0, WIRE_FAILED, 0, 2, 0);
    tell(&bench, 0, WIRE_FAILED, 0, 3, 0);
    expect(&bench, "10 pending: why; 12 pending: why; job 0/3 to 0; 10 failed: why; 12 failed: why; job 2/1 to 0; ");
    manager_free(bench.manager);
}

static void an_end_must_be_complete(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    record(&bench, 0, 0, 1, 1, 10, RECORD_END);
    tell(&bench, 0, WIRE_FINISHED, 0, 1, 1);
    expect(&bench, "job 0/1 to 0; persist 10/1:1; 12 pending: finished without the end of unit 12; job 0/2 to 0; ");
    record(&bench, 0, 0, 2, 1, 12, RECORD_VALUES);
    record(&bench, 0, 0, 2, 3, 12, RECORD_END); /* number 2 is missing */
    record(&bench, 0, 0, 2, 2, 7, RECORD_END);  /* the row of another trajectory */
    tell(&bench, 0, WIRE_FINISHED, 0, 2, 3);
    expect(&bench, "persist 12/2:1; 12 pending: finished after 3 records, but only 1 of them were in order; job 0/3 to 0; ");
    manager_free(bench.manager);
}

/* Finish the sweep from its first job on, with one worker. */
static void finish_all(struct bench *bench)
{
    record(bench, 0, 0, 1, 1, 10, RECORD_END);
    record(bench, 0, 0, 1, 2, 12, RECORD_END);
    tell(bench, 0, WIRE_FINISHED, 0, 1, 2);
    record(bench, 0, 1, 5, 1, 7, RECORD_END);
    tell(bench, 0, WIRE_FINISHED, 1, 5, 1);
    record(bench, 0, 2, 1, 1, 3, RECORD_END);
    tell(bench, 0, WIRE_FINISHED, 2, 1, 1);
}

static void the_end_waits_for_the_disk(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    finish_all(&bench);
    bench.log[0] = 0;
    assert_int_equal(manager_tick(bench.manager, 1), STATUS_OK);
    expect(&bench, "");
    manager_persisted(bench.manager, 4, 1);
    expect(&bench, "ack 0/1:2 to 0; ack 1/5:1 to 0; ack 2/1:1 to 0; quit to 0; ");
    assert_false(manager_over(bench.manager));
    tell(&bench, 0, WIRE_BYE, 0, 0, 0);
    assert_true(manager_over(bench.manager));
    assert_int_equal(manager_result(bench.manager), STATUS_OK);
    manager_free(bench.manager);
}

static void nothing_to_do_ends_at_once(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    bench.config.trajectory_count = 0;
    begin(&bench);
    assert_int_equal(manager_tick(bench.manager, 0), STATUS_OK);
    expect(&bench, "quit to 0; quit to 1; ");
    tell(&bench, 0, WIRE_BYE, 0, 0, 0);
    hello(&bench, 1);
    tell(&bench, 1, WIRE_BYE, 0, 0, 0);
    assert_true(manager_over(bench.manager));
    assert_int_equal(manager_result(bench.manager), STATUS_OK);
    manager_free(bench.manager);
}

static void a_drain_waits_for_answers(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    begin(&bench);
    hello(&bench, 0);
    hello(&bench, 1);
    expect(&bench, "job 0/1 to 0; job 1/5 to 1; ");
    record(&bench, 0, 0, 1, 1, 10, RECORD_VALUES);
    manager_drain(bench.manager, 0);
    manager_drain(bench.manager, 0);
    expect(&bench, "persist 10/1:1; drain to 0; drain to 1; ");
    tell(&bench, 1, WIRE_STOPPED, 1, 5, 0);
    tell(&bench, 0, WIRE_STOPPED, 0, 1, 0);
    expect(&bench, "7 pending; 10 pending; 12 pending; ");
    manager_persisted(bench.manager, 1, 0);
    expect(&bench, "ack 0/1:1 to 0; quit to 0; quit to 1; ");
    tell(&bench, 0, WIRE_BYE, 0, 0, 0);
    tell(&bench, 1, WIRE_BYE, 0, 0, 0);
    assert_true(manager_over(bench.manager));
    assert_int_equal(manager_result(bench.manager), STATUS_INCOMPLETE);
    manager_free(bench.manager);
}

static void nothing_starts_before_the_deadline(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    bench.config.deadline = 1000;
    bench.config.start_margin = 90;
    bench.config.stop_margin = 60;
    begin(&bench);
    bench.now = 909;
    hello(&bench, 0);
    expect(&bench, "job 0/1 to 0; ");
    bench.now = 911;
    hello(&bench, 1);
    expect(&bench, "");
    manager_tick(bench.manager, 939);
    expect(&bench, "");
    manager_tick(bench.manager, 941);
    expect(&bench, "drain to 0; ");
    bench.now = 942;
    tell(&bench, 0, WIRE_STOPPED, 0, 1, 0);
    expect(&bench, "10 pending; 12 pending; quit to 0; quit to 1; ");
    manager_free(bench.manager);
}

/* What is known to be short may be started in the last seconds. */
static void something_short_starts_late(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    bench.config.deadline = 1000;
    bench.config.start_margin = 90;
    bench.config.stop_margin = 10;
    begin(&bench);
    bench.now = 800;
    hello(&bench, 0); /* 100 s expected */
    record(&bench, 0, 0, 1, 1, 10, RECORD_END);
    record(&bench, 0, 0, 1, 2, 12, RECORD_END);
    bench.log[0] = 0;
    bench.now = 912;
    tell(&bench, 0, WIRE_FINISHED, 0, 1, 2); /* took 112: what comes next, 50 s expected, may take 1.5 * 56 + 2 = 86 */
    expect(&bench, "");
    manager_free(bench.manager);
    begin(&bench);
    bench.now = 820;
    hello(&bench, 0);
    record(&bench, 0, 0, 1, 1, 10, RECORD_END);
    record(&bench, 0, 0, 1, 2, 12, RECORD_END);
    bench.log[0] = 0;
    bench.now = 912;
    tell(&bench, 0, WIRE_FINISHED, 0, 1, 2); /* took 92: 71 s are enough */
    expect(&bench, "job 1/5 to 0; ");
    manager_drain(bench.manager, 913);
    assert_int_equal(manager_result(bench.manager), STATUS_INCOMPLETE);
    assert_string_equal(status_message(), "stopped with 2 of 3 trajectories not finished; run again to go on");
    manager_free(bench.manager);
}

static void too_late_from_the_start_ends_at_once(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    bench.config.deadline = 50;
    bench.config.start_margin = 90;
    begin(&bench);
    hello(&bench, 0);
    expect(&bench, "quit to 0; ");
    assert_int_equal(manager_result(bench.manager), STATUS_INCOMPLETE);
    assert_string_equal(status_message(), "stopped before the deadline with 3 of 3 trajectories not finished; run again to go on");
    manager_free(bench.manager);
}

static void a_silent_worker_is_replaced(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    bench.config.ping_seconds = 1;
    begin(&bench);
    hello(&bench, 0);
    expect(&bench, "job 0/1 to 0; ");
    for (bench.now = 1; bench.now < 302; bench.now++) {
        tell(&bench, 1, bench.now < 2 ? WIRE_HELLO : WIRE_ALIVE, 0, 0, 0);
        if (bench.now < 2)
            tell(&bench, 1, WIRE_FAILED, 1, 5, 0);
        bench.log[0] = 0;
        manager_tick(bench.manager, bench.now);
    }
    assert_non_null(strstr(bench.log, "0 given up: the worker said nothing for 301 s; 10 pending: the worker said nothing for 301 s"));
    assert_int_equal(manager_lost_count(bench.manager), 1);
    bench.log[0] = 0;
    tell(&bench, 0, WIRE_ALIVE, 0, 0, 0); /* back, too late */
    expect(&bench, "quit to 0; ");
    tell(&bench, 0, WIRE_BYE, 0, 0, 0);
    assert_int_equal(manager_lost_count(bench.manager), 0);
    manager_free(bench.manager);
}

/* When rank 0 itself was away (a slow disk), the workers' words are still in the queue. */
static void our_own_pause_is_no_silence(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    manager_tick(bench.manager, 1);
    bench.log[0] = 0;
    manager_tick(bench.manager, 2000);
    expect(&bench, "ping to 0; ");
    manager_free(bench.manager);
}

static void the_last_worker_leaving_ends_it(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    begin(&bench);
    hello(&bench, 0);
    hello(&bench, 1);
    bench.log[0] = 0;
    tell(&bench, 0, WIRE_LEAVING, 0, 0, 0);
    tell(&bench, 0, WIRE_STOPPED, 0, 1, 0);
    expect(&bench, "10 pending; 12 pending; "); /* and no job for worker 0 */
    manager_lost(bench.manager, 1, "gone", 0);
    expect(&bench, "7 pending: gone; quit to 0; ");
    tell(&bench, 0, WIRE_BYE, 0, 0, 0);
    assert_true(manager_over(bench.manager));
    assert_int_equal(manager_result(bench.manager), STATUS_INCOMPLETE);
    manager_free(bench.manager);
}

/* After a disk failure nothing is acknowledged any more, and the end does not wait for the disk. */
static void a_halt_acknowledges_nothing(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    record(&bench, 0, 0, 1, 1, 10, RECORD_VALUES);
    bench.fail = "persist";
    assert_int_equal(record(&bench, 0, 0, 1, 2, 10, RECORD_VALUES), STATUS_IO);
    bench.log[0] = 0;
    manager_halt(bench.manager, 0);
    expect(&bench, "halt to 0; ");
    assert_int_equal(record(&bench, 0, 0, 1, 3, 10, RECORD_VALUES), STATUS_OK);
    assert_int_equal(manager_persisted(bench.manager, 2, 0), STATUS_OK);
    expect(&bench, "");
    tell(&bench, 0, WIRE_STOPPED, 0, 1, 0);
    expect(&bench, "quit to 0; ");
    manager_free(bench.manager);
}

/* Who is saving a state when the disk fails would wait for an acknowledgement. */
static void a_halt_follows_a_drain(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 2);
    begin(&bench);
    hello(&bench, 0);
    hello(&bench, 1);
    bench.log[0] = 0;
    manager_drain(bench.manager, 0);
    expect(&bench, "drain to 0; drain to 1; ");
    tell(&bench, 1, WIRE_STOPPED, 1, 5, 0);
    bench.log[0] = 0;
    manager_halt(bench.manager, 0);
    expect(&bench, "halt to 0; ");
    tell(&bench, 0, WIRE_STOPPED, 0, 1, 0);
    expect(&bench, "quit to 0; quit to 1; ");
    manager_free(bench.manager);
}

/* A job that could not be sent leaves no worker from whom an answer is awaited. */
static void a_job_that_cannot_go_out(void **state)
{
    (void)state;
    struct bench bench;
    const char *const failing[] = {"job", "unit"};
    for (unsigned i = 0; i < 2; i++) {
        set_up(&bench, 1);
        begin(&bench);
        bench.fail = failing[i];
        assert_int_equal(tell(&bench, 0, WIRE_HELLO, 0, 0, 0), STATUS_IO);
        bench.log[0] = 0;
        assert_int_equal(manager_halt(bench.manager, 0), STATUS_OK);
        expect(&bench, "quit to 0; ");
        manager_free(bench.manager);
    }
}

static void progress_counts_parts(void **state)
{
    (void)state;
    struct bench bench;
    struct manager_progress progress;
    set_up(&bench, 1);
    begin(&bench);
    hello(&bench, 0);
    struct wire_message message = {.tag = WIRE_PROGRESS, .trajectory = 0, .attempt = 1, .step = 25, .steps = 100};
    manager_message(bench.manager, 0, &message, 0);
    manager_get_progress(bench.manager, &progress);
    assert_true(progress.seconds == 160 && progress.seconds_done == 25);
    assert_true(progress.running == 1 && progress.busy == 1 && progress.workers == 1 && progress.units == 4);
    finish_all(&bench);
    manager_get_progress(bench.manager, &progress);
    assert_true(progress.seconds_done == 160 && progress.done == 3 && progress.units_ended == 4 && progress.records == 4);
    manager_free(bench.manager);
}

static void bad_plans_are_refused(void **state)
{
    (void)state;
    static const struct manager_trajectory bad[] = {
        {.first_unit = 0, .units = 0}, {.first_unit = 3, .units = 2}, {.first_unit = UINT32_MAX, .units = 2}, {.first_unit = 1, .units = 2}};
    for (unsigned i = 0; i < 4; i++) { /* the last one: row 7 after row 12 */
        struct bench bench;
        set_up(&bench, 1);
        bench.config.trajectories = &bad[i];
        bench.config.trajectory_count = 1;
        struct manager_actions actions = {&bench, on_send, on_persist, on_unit, on_given_up};
        assert_int_equal(manager_create(&bench.config, &actions, 0, &bench.manager), STATUS_INPUT);
        assert_null(bench.manager);
    }
}

static void strange_messages_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    begin(&bench);
    assert_int_equal(tell(&bench, 1, WIRE_HELLO, 0, 0, 0), STATUS_CORRUPT); /* there is no worker 1 */
    assert_int_equal(tell(&bench, 0, WIRE_JOB, 0, 0, 0), STATUS_CORRUPT);
    assert_int_equal(tell(&bench, 0, WIRE_FINISHED, 77, 1, 0), STATUS_OK); /* not its own: no effect */
    expect(&bench, "");
    manager_free(bench.manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_goes_out_in_order), cmocka_unit_test(acknowledged_once_on_disk),
        cmocka_unit_test(failures_are_retried_then_given_up), cmocka_unit_test(retries_go_elsewhere),
        cmocka_unit_test(retries_go_to_other_hosts), cmocka_unit_test(a_worker_on_which_all_crashes_is_held),
        cmocka_unit_test(never_all_workers_are_held), cmocka_unit_test(an_end_must_be_complete),
        cmocka_unit_test(the_end_waits_for_the_disk), cmocka_unit_test(nothing_to_do_ends_at_once),
        cmocka_unit_test(a_drain_waits_for_answers), cmocka_unit_test(nothing_starts_before_the_deadline),
        cmocka_unit_test(something_short_starts_late),
        cmocka_unit_test(too_late_from_the_start_ends_at_once), cmocka_unit_test(a_silent_worker_is_replaced),
        cmocka_unit_test(our_own_pause_is_no_silence), cmocka_unit_test(the_last_worker_leaving_ends_it),
        cmocka_unit_test(a_halt_acknowledges_nothing), cmocka_unit_test(a_halt_follows_a_drain),
        cmocka_unit_test(a_job_that_cannot_go_out),
        cmocka_unit_test(progress_counts_parts), cmocka_unit_test(bad_plans_are_refused),
        cmocka_unit_test(strange_messages_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

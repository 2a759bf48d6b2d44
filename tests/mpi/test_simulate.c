/* A simulator drives the manager: many workers in random order, crashes, workers on which all crashes, lost workers, duplicated and
 * missing records, slow commits.
 * Without arguments 1,000 workers and 50,000 units from several seeds; `long`: 10,000 workers and 1,000,000 units. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bnsweep/base/mem.h"
#include "bnsweep/measure/record.h"
#include "bnsweep/mpi/manager.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKERS_A_HOST = 8, SUSPECT_AFTER = 3, FAILURES_KEPT = 3 };
enum { VALUES_A_UNIT = 2, RECORDS_A_UNIT = VALUES_A_UNIT + 1, MAX_UNITS = 4, MAX_RECORDS = MAX_UNITS * RECORDS_A_UNIT };
static const uint64_t SENT = UINT64_MAX; /* the record was sent, but not given to `persist` */

struct sim_worker {
    bool greeted, busy, drain, quit, out, left, listed; /* out: lost or gone */
    uint32_t trajectory, attempt, sent, acknowledged;
};

struct sim_trajectory {
    uint32_t attempt;             /* the last one handed out */
    uint32_t failures, failed_on[FAILURES_KEPT];
    bool running, finished; /* finished: said so once, which the manager need not have believed */
    uint64_t serial[MAX_RECORDS]; /* of its records; SENT, 0: not sent */
};

struct simulation {
    uint64_t random;
    uint32_t worker_count, trajectory_count, unit_count;
    struct manager *manager;
    struct manager_config config;
    struct manager_trajectory *given;
    uint32_t *rows, *trajectory_of;
    struct sim_worker *workers;
    struct sim_trajectory *trajectories;
    uint32_t *ends, *ended_in; /* [row] END records persisted; the attempt that did */
    uint8_t *state;            /* [row] last said */
    bool *has_reason;          /* [row] the failure was explained */
    uint32_t *list, listed;    /* workers that have something to do */
    uint32_t idle, taking;     /* taking: workers that neither left nor are lost */
    uint32_t begun;            /* trajectories handed out at least once */
    uint32_t bad_crashes, bad_workers;
    uint64_t serial, durable, events, nanoseconds;
    uint32_t speaker; /* whose message is being handled */
    double now;
};

static uint64_t next_random(struct simulation *sim)
{
    sim->random += 0x9e3779b97f4a7c15;
    uint64_t z = sim->random;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t below(struct simulation *sim, uint32_t limit)
{
    return (uint32_t)((next_random(sim) >> 32) * limit >> 32);
}

static void enlist(struct simulation *sim, uint32_t w)
{
    if (sim->workers[w].listed)
        return;
    sim->workers[w].listed = true;
    sim->list[sim->listed++] = w;
}

/* --- the manager's actions --- */

/* Every acknowledged record is on disk, or was made superfluous: by a later attempt, or by an earlier one that had ended the unit. */
static void check_ack(struct simulation *sim, uint32_t w, const struct wire_message *ack)
{
    const struct sim_trajectory *trajectory = &sim->trajectories[ack->trajectory];
    assert_in_range(ack->number, 1, MAX_RECORDS);
    if (ack->attempt == trajectory->attempt) {
        uint64_t serial = trajectory->serial[ack->number - 1];
        uint32_t row = sim->given[ack->trajectory].first_unit + (ack->number - 1) / RECORDS_A_UNIT;
        if (serial == SENT)
            assert_true(sim->ended_in[row] && sim->ended_in[row] < ack->attempt);
        else
            assert_in_range(serial, 1, sim->durable);
    } else {
        assert_true(ack->attempt < trajectory->attempt);
    }
    if (sim->workers[w].trajectory == ack->trajectory && sim->workers[w].attempt == ack->attempt)
        sim->workers[w].acknowledged = ack->number;
}

static enum status on_send(void *context, uint32_t w, const struct wire_message *message)
{
    struct simulation *sim = context;
    struct sim_worker *worker = &sim->workers[w];
    if (message->tag == WIRE_ACK) {
        check_ack(sim, w, message);
    } else if (message->tag == WIRE_JOB) {
        assert_false(worker->busy || worker->out);
        worker->busy = true;
        worker->trajectory = message->trajectory;
        worker->attempt = message->attempt;
        worker->sent = worker->acknowledged = 0;
        sim->idle--;
        struct sim_trajectory *trajectory = &sim->trajectories[message->trajectory];
        assert_true(message->attempt == trajectory->attempt + 1);
        sim->begun += message->attempt == 1;
        trajectory->attempt = message->attempt;
        trajectory->running = true;
        memset(trajectory->serial, 0, sizeof trajectory->serial);
    } else {
        worker->drain |= message->tag == WIRE_DRAIN;
        worker->quit |= message->tag == WIRE_QUIT;
    }
    if (message->tag != WIRE_ACK && message->tag != WIRE_PING)
        enlist(sim, w);
    return STATUS_OK;
}

static void on_given_up(void *context, uint32_t w, const char *reason)
{
    const struct simulation *sim = context;
    (void)reason;
    assert_false(sim->workers[w].left);
}

static enum status on_persist(void *context, const struct wire_message *record)
{
    struct simulation *sim = context;
    struct sim_trajectory *trajectory = &sim->trajectories[record->trajectory];
    assert_int_equal(record->attempt, trajectory->attempt);
    assert_true(trajectory->serial[record->number - 1] == SENT); /* neither twice nor unsent */
    trajectory->serial[record->number - 1] = ++sim->serial;
    assert_int_equal(sim->ends[record->row], 0);
    if (*(const uint8_t *)record->bytes == RECORD_END) {
        sim->ends[record->row]++;
        sim->ended_in[record->row] = record->attempt;
    }
    return STATUS_OK;
}

static enum status on_unit(void *context, const struct manager_unit *unit)
{
    struct simulation *sim = context;
    assert_int_equal(sim->ends[unit->row], 0);
    assert_true(sim->state[unit->row] != MANAGER_UNIT_FAILED);
    sim->state[unit->row] = (uint8_t)unit->state;
    sim->has_reason[unit->row] = unit->reason[0] != 0;
    return STATUS_OK;
}

/* --- the workers --- */

static uint64_t nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void tell(struct simulation *sim, uint32_t w, const struct wire_message *message)
{
    uint64_t start = nanoseconds();
    assert_int_equal(manager_message(sim->manager, w, message, sim->now), STATUS_OK);
    sim->nanoseconds += nanoseconds() - start;
    sim->events++;
}

static void end_attempt(struct simulation *sim, uint32_t w, enum wire_tag tag, const char *reason)
{
    struct sim_worker *worker = &sim->workers[w];
    struct wire_message message = {.tag = tag, .trajectory = worker->trajectory, .attempt = worker->attempt, .number = worker->sent,
                                   .text = reason};
    struct sim_trajectory *trajectory = &sim->trajectories[worker->trajectory];
    if (worker->attempt == trajectory->attempt) {
        trajectory->running = false;
        trajectory->finished = trajectory->finished || tag == WIRE_FINISHED;
        if (tag == WIRE_FAILED)
            trajectory->failed_on[trajectory->failures++ % FAILURES_KEPT] = w;
    }
    worker->busy = false;
    sim->idle++; /* the next job may come within the call */
    tell(sim, w, &message);
}

static void send_record(struct simulation *sim, uint32_t w, uint32_t number)
{
    struct sim_worker *worker = &sim->workers[w];
    uint32_t unit = (number - 1) / RECORDS_A_UNIT;
    uint8_t byte = number % RECORDS_A_UNIT ? RECORD_VALUES : RECORD_END;
    struct sim_trajectory *trajectory = &sim->trajectories[worker->trajectory];
    bool stale = worker->attempt != trajectory->attempt;
    if (!stale && !trajectory->serial[number - 1])
        trajectory->serial[number - 1] = SENT;
    struct wire_message record = {.tag = WIRE_RECORD, .trajectory = worker->trajectory, .attempt = worker->attempt, .number = number,
                                  .row = sim->given[worker->trajectory].first_unit + unit, .bytes = &byte, .size = 1};
    tell(sim, w, &record);
}

static bool is_poisoned(uint32_t t)
{
    return t % 997 == 3;
}

/* Everything crashes there; only where there are many workers. */
static bool is_bad(const struct simulation *sim, uint32_t w)
{
    return sim->worker_count >= 100 && w % 61 == 7;
}

static void train(struct simulation *sim, uint32_t w)
{
    struct sim_worker *worker = &sim->workers[w];
    uint32_t total = sim->given[worker->trajectory].units * RECORDS_A_UNIT, dice = below(sim, 1000);
    if (worker->drain && dice < 500) {
        end_attempt(sim, w, WIRE_STOPPED, "");
    } else if (is_bad(sim, w)) {
        sim->bad_crashes++;
        end_attempt(sim, w, WIRE_FAILED, "killed by signal 4");
    } else if (dice < 5 || (is_poisoned(worker->trajectory) && worker->sent == VALUES_A_UNIT)) {
        end_attempt(sim, w, WIRE_FAILED, "killed by signal 9");
    } else if (dice < 30 && worker->sent) {
        send_record(sim, w, 1 + below(sim, worker->sent));
    } else if (worker->sent == total) {
        end_attempt(sim, w, WIRE_FINISHED, "");
    } else if (dice < 32) {
        worker->sent++; /* a record gets lost */
    } else {
        send_record(sim, w, ++worker->sent);
    }
}

static void leave(struct simulation *sim, uint32_t w, bool lost)
{
    struct sim_worker *worker = &sim->workers[w];
    bool was_busy = worker->busy;
    worker->left = true;
    sim->taking--;
    if (!was_busy)
        sim->idle--;
    if (!lost) {
        sim->idle -= was_busy; /* counted as idle again when its attempt ends, though it will get nothing */
        tell(sim, w, &(struct wire_message){.tag = WIRE_LEAVING, .text = "SIGTERM"});
        if (was_busy)
            end_attempt(sim, w, WIRE_STOPPED, "");
        return;
    }
    worker->out = true;
    worker->busy = false;
    struct sim_trajectory *trajectory = &sim->trajectories[worker->trajectory];
    if (was_busy && worker->attempt == trajectory->attempt) {
        trajectory->running = false;
        trajectory->failed_on[trajectory->failures++ % FAILURES_KEPT] = w;
    }
    assert_int_equal(manager_lost(sim->manager, w, "silent for 300 s", sim->now), STATUS_OK);
}

/* One thing happens to a worker that has something to do. */
static void step(struct simulation *sim)
{
    uint32_t at = below(sim, sim->listed), w = sim->list[at];
    struct sim_worker *worker = &sim->workers[w];
    if (w % 7 == 0 && below(sim, 10)) /* a slow one */
        return;
    if (!worker->out && !worker->greeted) {
        worker->greeted = true;
        sim->idle++;
        sim->taking++;
        char host[16];
        snprintf(host, sizeof host, "host%u", w / WORKERS_A_HOST);
        tell(sim, w, &(struct wire_message){.tag = WIRE_HELLO, .text = host});
    } else if (!worker->out && worker->busy) {
        if (sim->taking > 1 + sim->worker_count / 2 && below(sim, sim->unit_count) == 0)
            leave(sim, w, below(sim, 2));
        else
            train(sim, w);
    } else if (!worker->out && worker->quit) {
        worker->out = true;
        tell(sim, w, &(struct wire_message){.tag = WIRE_BYE});
    }
    bool more = !worker->out && (worker->busy || worker->quit || !worker->greeted);
    if (!more) {
        worker->listed = false;
        sim->list[at] = sim->list[--sim->listed];
    }
}

static void persist_some(struct simulation *sim)
{
    assert_true(manager_serial(sim->manager) == sim->serial);
    sim->durable += below(sim, 4) ? sim->serial - sim->durable : (sim->serial - sim->durable) / 2;
    uint64_t start = nanoseconds();
    assert_int_equal(manager_persisted(sim->manager, sim->durable, sim->now), STATUS_OK);
    sim->nanoseconds += nanoseconds() - start;
}

/* Nobody idles while there is work that was never tried, but who is held back. */
static void check_nobody_idles(const struct simulation *sim)
{
    struct manager_progress progress;
    manager_get_progress(sim->manager, &progress);
    assert_in_range(progress.held, 0, sim->idle);
    assert_false(sim->begun < sim->trajectory_count && sim->idle > progress.held && !manager_draining(sim->manager));
}

/* Whether the trajectory is to be tried again, and did not fail on the worker or another one of its host. */
static bool is_for(const struct simulation *sim, const struct sim_trajectory *trajectory, uint32_t w)
{
    bool waits = trajectory->failures && trajectory->failures < sim->config.max_attempts && !trajectory->running && !trajectory->finished;
    for (uint32_t i = 0; waits && i < trajectory->failures; i++)
        waits = trajectory->failed_on[i] / WORKERS_A_HOST != w / WORKERS_A_HOST;
    return waits;
}

/* And nobody idles who may take a retry: looked at now and then, at a random worker. */
static void check_retries_are_taken(struct simulation *sim)
{
    uint32_t w = below(sim, sim->worker_count);
    const struct sim_worker *worker = &sim->workers[w];
    bool idles = worker->greeted && !worker->busy && !worker->out && !worker->left && !worker->quit && !manager_is_held(sim->manager, w);
    if (!idles || manager_draining(sim->manager))
        return;
    for (uint32_t t = 0; t < sim->trajectory_count; t++)
        assert_false(is_for(sim, &sim->trajectories[t], w));
}

/* --- a run --- */

static void set_up(struct simulation *sim, uint32_t workers, uint32_t units, uint64_t seed)
{
    *sim = (struct simulation){.random = seed, .worker_count = workers, .unit_count = units};
    sim->given = mem_array(units, sizeof *sim->given);
    sim->rows = mem_array(units, sizeof *sim->rows);
    sim->workers = mem_array(workers, sizeof *sim->workers);
    sim->list = mem_array(workers, sizeof *sim->list);
    sim->ends = mem_array(units, sizeof *sim->ends);
    sim->ended_in = mem_array(units, sizeof *sim->ended_in);
    sim->state = mem_array(units, 1);
    sim->has_reason = mem_array(units, sizeof *sim->has_reason);
    assert_true(sim->given && sim->rows && sim->workers && sim->list && sim->ends && sim->ended_in && sim->state && sim->has_reason);
    for (uint32_t unit = 0; unit < units; sim->trajectory_count++) {
        uint32_t count = 1 + below(sim, MAX_UNITS);
        count = count < units - unit ? count : units - unit;
        sim->given[sim->trajectory_count] = (struct manager_trajectory){.seconds = 100, .first_unit = unit, .units = count};
        for (uint32_t i = 0; i < count; i++, unit++)
            sim->rows[unit] = unit;
    }
    sim->trajectories = mem_array(sim->trajectory_count, sizeof *sim->trajectories);
    assert_non_null(sim->trajectories);
    sim->config = (struct manager_config){.trajectories = sim->given, .trajectory_count = sim->trajectory_count, .rows = sim->rows,
                                          .unit_count = units, .workers = workers, .max_attempts = 3, .suspect_after = SUSPECT_AFTER, .ping_seconds = 5};
    struct manager_actions actions = {sim, on_send, on_persist, on_unit, on_given_up};
    assert_int_equal(manager_create(&sim->config, &actions, 0, &sim->manager), STATUS_OK);
    for (uint32_t w = 0; w < workers; w++) {
        enlist(sim, w);
        sim->bad_workers += is_bad(sim, w);
    }
}

static void tear_down(struct simulation *sim)
{
    manager_free(sim->manager);
    mem_free(sim->given);
    mem_free(sim->rows);
    mem_free(sim->workers);
    mem_free(sim->trajectories);
    mem_free(sim->list);
    mem_free(sim->ends);
    mem_free(sim->ended_in);
    mem_free(sim->state);
    mem_free(sim->has_reason);
}

static void play(struct simulation *sim, uint64_t drain_at)
{
    for (uint64_t i = 1; !manager_over(sim->manager); i++) {
        sim->now += 1e-4;
        if (sim->listed)
            step(sim);
        check_nobody_idles(sim);
        if (i % 4999 == 0)
            check_retries_are_taken(sim);
        if (below(sim, 500) == 0 || !sim->listed)
            persist_some(sim);
        if (i % 10000 == 0)
            assert_int_equal(manager_tick(sim->manager, sim->now), STATUS_OK);
        if (i == drain_at)
            assert_int_equal(manager_drain(sim->manager, sim->now), STATUS_OK);
        assert_true(i < (uint64_t)sim->unit_count * 200); /* it comes to an end */
    }
}

static void report(const struct simulation *sim, uint64_t seed, const char *what)
{
    printf("%s, seed %llu: %u workers (%u bad ones: %u crashes), %u units in %u trajectories, %llu messages, %.0f ns each\n", what,
           (unsigned long long)seed, sim->worker_count, sim->bad_workers, sim->bad_crashes, sim->unit_count, sim->trajectory_count,
           (unsigned long long)sim->events, (double)sim->nanoseconds / (double)sim->events);
    assert_in_range(sim->bad_crashes, 0, 2 * SUSPECT_AFTER * sim->bad_workers); /* they were held back */
}

static void run_to_the_end(uint32_t workers, uint32_t units, uint64_t seed)
{
    struct simulation sim;
    set_up(&sim, workers, units, seed);
    play(&sim, 0);
    report(&sim, seed, "to the end");
    uint32_t failed = 0;
    for (uint32_t row = 0; row < units; row++) {
        bool gave_up = sim.state[row] == MANAGER_UNIT_FAILED;
        assert_int_equal(sim.ends[row] + gave_up, 1);
        assert_true(!gave_up || sim.has_reason[row]);
        failed += gave_up;
    }
    assert_in_range(failed, 1, units / 100);
    assert_int_equal(manager_result(sim.manager), STATUS_FAILED);
    assert_true(sim.durable == sim.serial); /* it did not end before the last acknowledgement */
    tear_down(&sim);
}

static void run_and_drain(uint32_t workers, uint32_t units, uint64_t seed)
{
    struct simulation sim;
    set_up(&sim, workers, units, seed);
    play(&sim, units);
    report(&sim, seed, "drained");
    uint32_t open = 0;
    for (uint32_t row = 0; row < units; row++) {
        assert_true(sim.ends[row] || sim.state[row] != MANAGER_UNIT_RUNNING);
        open += !sim.ends[row] && sim.state[row] == MANAGER_UNIT_PENDING;
    }
    assert_true(open > 0);
    assert_int_equal(manager_result(sim.manager), STATUS_INCOMPLETE);
    assert_true(sim.durable == sim.serial);
    tear_down(&sim);
}

static void every_unit_ends_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        run_to_the_end(1000, 50000, seed);
    for (uint64_t seed = 10; seed < 40; seed++)
        run_to_the_end(1 + (uint32_t)seed % 5, 2000, seed);
}

static void a_drain_leaves_nothing_running(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        run_and_drain(1000, 50000, seed);
    for (uint64_t seed = 10; seed < 40; seed++)
        run_and_drain(1 + (uint32_t)seed % 5, 2000, seed);
}

/* Also the size: allocated bytes a unit (unknown, and not asserted, where an own allocator of the sanitizers is in use). */
static void a_million_units(void **state)
{
    (void)state;
    enum { UNITS = 1000000, WORKERS = 10000 };
    struct simulation sim;
    set_up(&sim, WORKERS, UNITS, 1);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    manager_free(sim.manager);
    size_t bytes = before - mallinfo2().uordblks - mallinfo2().hblkhd;
    sim.manager = NULL;
    printf("manager of %d workers and %d units: %.1f bytes a unit\n", WORKERS, UNITS, (double)bytes / UNITS);
    assert_in_range(bytes, 0, 200 * (size_t)UNITS);
    tear_down(&sim);
    run_to_the_end(WORKERS, UNITS, 1);
    run_and_drain(WORKERS, UNITS, 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest short_tests[] = {cmocka_unit_test(every_unit_ends_once), cmocka_unit_test(a_drain_leaves_nothing_running)};
    const struct CMUnitTest long_tests[] = {cmocka_unit_test(a_million_units)};
    if (argc > 1 && !strcmp(argv[1], "long"))
        return cmocka_run_group_tests(long_tests, NULL, NULL);
    return cmocka_run_group_tests(short_tests, NULL, NULL);
}

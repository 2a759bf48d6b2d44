#include "bnsweep/mpi/leader.h"

#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/measure/record.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { HOST_SIZE = 64, MESSAGE_SIZE = 2048, COMMIT_RECORDS = 1000, COMMIT_BYTES = 8 << 20 };

static const double TICK_SECONDS = 0.5;
/* Between two commits while a worker waits for one: at the end of a trajectory, and when a scheduler that sent SIGTERM leaves about
 * a second. */
static const double HURRIED_COMMIT_SECONDS = 0.05;

struct leader {
    struct comm *comm; /* not owned */
    const struct session_config *config;
    const struct session_callbacks *callbacks;
    struct manager *manager;
    char (*hosts)[HOST_SIZE]; /* [rank] */
    struct pack job, frame;
    size_t waiting, waiting_bytes; /* taken and not yet committed */
    bool end_waits;                /* an END record is among them, and its training process waits for it to be on disk */
    double committed, ticked;
    enum status error;
    char message[MESSAGE_SIZE];
};

static bool alone(const struct comm *comm)
{
    return comm_size(comm) == 1;
}

static int rank_of(const struct leader *leader, uint32_t worker)
{
    return alone(leader->comm) ? 0 : (int)worker + 1;
}

/* Keep the first error; after it nothing more is taken in, and the workers are told to stop. */
static void note(struct leader *leader, enum status status, double now)
{
    if (!status || leader->error)
        return;
    leader->error = status;
    strncpy(leader->message, status_message(), sizeof leader->message - 1);
    log_write(LOG_ERROR, "stopping: %s", leader->message);
    status = manager_halt(leader->manager, now);
    if (status)
        log_write(LOG_ERROR, "telling the workers to stop: %s", status_message());
}

/* --- the manager's actions --- */

static enum status send_message(void *context, uint32_t worker, const struct wire_message *message)
{
    struct leader *leader = context;
    struct wire_message whole = *message;
    enum status status = STATUS_OK;
    if (message->tag == WIRE_JOB) {
        pack_clear(&leader->job);
        status = leader->callbacks->job(leader->callbacks->context, message->trajectory, message->attempt, &leader->job);
        whole.bytes = leader->job.data;
        whole.size = leader->job.size;
        if (!status && leader->job.failed)
            status = status_fail(STATUS_NOMEM, "out of memory for a job");
    }
    pack_clear(&leader->frame);
    if (!status)
        status = wire_pack(&whole, &leader->frame);
    return status ? status : comm_send(leader->comm, rank_of(leader, worker), leader->frame.data, leader->frame.size);
}

static void count_waiting(struct leader *leader, size_t size)
{
    leader->waiting++;
    leader->waiting_bytes += size;
}

static enum status persist(void *context, const struct wire_message *record)
{
    struct leader *leader = context;
    count_waiting(leader, record->size);
    leader->end_waits = leader->end_waits || record_is_end(record->bytes, record->size);
    return leader->callbacks->record(leader->callbacks->context, record->row, record->attempt, record->number, record->bytes,
                                     record->size);
}

static enum status say_unit(void *context, const struct manager_unit *unit)
{
    struct leader *leader = context;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    int rank = rank_of(leader, unit->worker);
    struct session_unit said = {.row = unit->row, .attempt = unit->attempt, .state = unit->state, .rank = rank,
                                .host = leader->hosts[rank], .reason = unit->reason,
                                .time = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec};
    count_waiting(leader, 0);
    return leader->callbacks->unit(leader->callbacks->context, &said);
}

static void say_given_up(void *context, uint32_t worker, const char *reason)
{
    const struct leader *leader = context;
    int rank = rank_of(leader, worker);
    log_write(LOG_WARNING, "rank %d on %s is given up, and its work goes to others: %s", rank, leader->hosts[rank], reason);
}

/* --- life --- */

/* The deadline on the clock of `now`: jumps of the wall clock later on do not move it. */
static double monotonic_deadline(double deadline, double now)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    double left = deadline - (double)time.tv_sec - 1e-9 * (double)time.tv_nsec;
    return deadline > 0 ? fmax(now + left, 1e-9) : 0; /* 0 would be no deadline */
}

enum status leader_create(struct comm *comm, const struct session_config *config, const struct session_callbacks *callbacks,
                          double now, struct leader **out)
{
    *out = NULL;
    struct leader *leader = mem_array(1, sizeof *leader);
    if (!leader)
        return STATUS_NOMEM;
    *leader = (struct leader){.comm = comm, .config = config, .callbacks = callbacks, .committed = now};
    const struct session_limits *limits = &config->limits;
    struct manager_config manager = {
        .trajectories = config->trajectories, .trajectory_count = config->trajectory_count,
        .rows = config->rows, .unit_count = config->unit_count,
        .workers = alone(comm) ? 1 : (uint32_t)comm_size(comm) - 1,
        .max_attempts = limits->max_attempts, .suspect_after = limits->suspect_after, .deadline = monotonic_deadline(config->deadline, now),
        .start_margin = limits->start_margin, .stop_margin = limits->stop_margin, .ping_seconds = limits->ping_seconds,
        .silent_seconds = alone(comm) ? 0 : limits->silent_seconds,
        .drain_seconds = 2 * limits->stop_seconds + 4 * limits->ping_seconds};
    struct manager_actions actions = {leader, send_message, persist, say_unit, say_given_up};
    leader->hosts = mem_array((size_t)comm_size(comm), sizeof *leader->hosts);
    enum status status = leader->hosts ? manager_create(&manager, &actions, now, &leader->manager) : STATUS_NOMEM;
    if (status) {
        leader_free(leader);
        return status;
    }
    *out = leader;
    return STATUS_OK;
}

void leader_free(struct leader *leader)
{
    if (!leader)
        return;
    manager_free(leader->manager);
    mem_free(leader->hosts);
    pack_free(&leader->job);
    pack_free(&leader->frame);
    mem_free(leader);
}

/* --- events --- */

static enum status check_hello(struct leader *leader, int from, const struct wire_message *hello)
{
    const char *identity = leader->config->identity;
    strncpy(leader->hosts[from], hello->text, HOST_SIZE - 1);
    if (hello->size == strlen(identity) && !memcmp(hello->bytes, identity, hello->size))
        return STATUS_OK;
    return status_fail(STATUS_VERSION, "rank %d on %s runs \"%.*s\", rank 0 on %s runs \"%s\": start the same program on all ranks",
                       from, hello->text, (int)(hello->size < 200 ? hello->size : 200), (const char *)hello->bytes,
                       comm_host(leader->comm), identity);
}

void leader_message(struct leader *leader, int from, const struct wire_message *message, double now)
{
    if (message->tag == WIRE_HELLO)
        note(leader, check_hello(leader, from, message), now);
    if (message->tag == WIRE_FAILED)
        log_write(LOG_WARNING, "trajectory %u, attempt %u, rank %d on %s: %s", message->trajectory, message->attempt, from,
                  leader->hosts[from], message->text);
    if (message->tag == WIRE_LEAVING && !manager_draining(leader->manager))
        log_write(LOG_WARNING, "rank %d on %s takes no more work: %s", from, leader->hosts[from], message->text);
    uint32_t worker = alone(leader->comm) ? 0 : (uint32_t)from - 1;
    bool held = manager_is_held(leader->manager, worker);
    note(leader, manager_message(leader->manager, worker, message, now), now);
    if (!held && manager_is_held(leader->manager, worker))
        log_write(LOG_WARNING, "rank %d on %s gets no work for now: %u trajectories in a row crashed there and nowhere else", from,
                  leader->hosts[from], leader->config->limits.suspect_after);
}

void leader_fault(struct leader *leader, enum status status, double now)
{
    note(leader, status, now);
}

/* Commit all that was taken, then acknowledge it. */
static void commit(struct leader *leader, double now)
{
    uint64_t serial = manager_serial(leader->manager);
    enum status status = leader->callbacks->commit(leader->callbacks->context);
    leader->committed = now;
    leader->waiting = leader->waiting_bytes = 0;
    leader->end_waits = false;
    if (!status)
        status = manager_persisted(leader->manager, serial, now);
    note(leader, status, now);
}

static bool commit_due(const struct leader *leader, double now)
{
    if (!leader->waiting || leader->error)
        return false;
    struct manager_progress progress;
    manager_get_progress(leader->manager, &progress);
    if (!progress.busy) /* the end waits for nothing else */
        return true;
    bool hurry = leader->end_waits || manager_draining(leader->manager);
    double pause = hurry ? HURRIED_COMMIT_SECONDS : leader->config->limits.commit_seconds;
    return now - leader->committed >= pause || leader->waiting >= COMMIT_RECORDS || leader->waiting_bytes >= COMMIT_BYTES;
}

void leader_step(struct leader *leader, double now)
{
    if (commit_due(leader, now))
        commit(leader, now);
    if (now - leader->ticked < TICK_SECONDS)
        return;
    leader->ticked = now;
    note(leader, manager_tick(leader->manager, now), now);
    struct manager_progress progress;
    manager_get_progress(leader->manager, &progress);
    if (!leader->error)
        note(leader, leader->callbacks->tick(leader->callbacks->context, now, &progress), now);
}

void leader_drain(struct leader *leader, double now)
{
    note(leader, manager_drain(leader->manager, now), now);
}

void leader_rescue(struct leader *leader, double now)
{
    if (leader->waiting && !leader->error)
        commit(leader, now);
    comm_give_up(leader->comm);
}

bool leader_over(const struct leader *leader)
{
    return manager_over(leader->manager);
}

enum status leader_result(const struct leader *leader)
{
    if (manager_lost_count(leader->manager))
        comm_give_up(leader->comm);
    return leader->error ? status_fail(leader->error, "%s", leader->message) : manager_result(leader->manager);
}

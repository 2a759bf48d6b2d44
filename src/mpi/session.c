#include "bnsweep/mpi/session.h"

#include "bnsweep/base/log.h"
#include "bnsweep/mpi/leader.h"
#include "bnsweep/mpi/signals.h"

#include <time.h>

enum { MESSAGES_A_ROUND = 256, MAX_UNACKNOWLEDGED = 4096, MAX_UNACKNOWLEDGED_BYTES = 64 << 20, PATIENCE = 100 };

struct session {
    struct comm *comm;
    struct leader *leader; /* on rank 0, else NULL */
    struct worker *worker; /* NULL on rank 0 of several */
    bool stopping;
    unsigned quiet; /* rounds since something happened */
};

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct session_limits session_default_limits(void)
{
    return (struct session_limits){
#define X(type, name, value, help) .name = value,
        SESSION_LIMITS(X)
#undef X
    };
}

static enum status deliver(struct session *session, const struct comm_message *came, double now)
{
    struct wire_message message;
    enum status status = wire_unpack(came->bytes, came->size, &message);
    if (!status && session->worker && came->from == 0 && wire_is_for_worker(message.tag))
        return worker_message(session->worker, &message, now);
    status = status_context(status, "a message from rank %d", came->from);
    if (!session->leader)
        return status ? status : status_fail(STATUS_CORRUPT, "rank %d sent a %s message here", came->from, wire_name(message.tag));
    if (status)
        leader_fault(session->leader, status, now);
    else
        leader_message(session->leader, came->from, &message, now);
    return STATUS_OK;
}

static enum status receive(struct session *session, double now, bool *active)
{
    for (unsigned i = 0; i < MESSAGES_A_ROUND; i++) {
        struct comm_message came;
        enum status status = comm_poll(session->comm, &came);
        if (status || !came.bytes)
            return status;
        *active = true;
        status = deliver(session, &came, now);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* The first signal ends the sweep in good order: on rank 0 for all, elsewhere for this worker. */
static enum status heed_signals(struct session *session, double now)
{
    const char *name = signals_stop();
    if (!name || session->stopping)
        return STATUS_OK;
    session->stopping = true;
    if (!session->leader)
        return worker_leave(session->worker, name, now);
    log_write(LOG_INFO, "%s: stopping, training states are being saved", name);
    leader_drain(session->leader, now);
    return STATUS_OK;
}

static bool is_over(const struct session *session)
{
    return session->leader ? leader_over(session->leader) : worker_over(session->worker);
}

/* Sleep where nothing happened: 1 ms, or 5 ms when nothing has for long. A worker's waiting is taken from its child's core. */
static void rest(struct session *session, bool active)
{
    session->quiet = active ? 0 : session->quiet + 1;
    if (!active)
        nanosleep(&(struct timespec){.tv_nsec = session->quiet < PATIENCE ? 1000000 : 5000000}, NULL);
}

static enum status go_round(struct session *session)
{
    double now = seconds_now();
    bool active = false;
    enum status status = heed_signals(session, now);
    if (!status)
        status = receive(session, now, &active);
    if (!status && session->worker)
        status = worker_step(session->worker, now, &active);
    if (!status && session->leader)
        leader_step(session->leader, now);
    if (!status && !is_over(session))
        rest(session, active);
    return status;
}

static enum status loop(struct session *session)
{
    while (!is_over(session)) {
        enum status status = go_round(session);
        if (!status && signals_now())
            status = status_fail(STATUS_INCOMPLETE, "stopped at once by a second signal; run again to go on");
        if (!status)
            continue;
        if (session->leader)
            leader_rescue(session->leader, seconds_now());
        else
            log_write(LOG_ERROR, "%s", status_message()); /* rank 0 may never hear of it */
        comm_give_up(session->comm);
        return status;
    }
    return session->leader ? leader_result(session->leader) : STATUS_OK;
}

static enum status set_up(struct session *session, const struct session_config *config, const struct session_callbacks *callbacks)
{
    const struct session_limits *limits = &config->limits;
    struct worker_config worker = {
        .child = {config->program, config->arguments, limits->hang_seconds, limits->stop_seconds}, .identity = config->identity,
        .alive_seconds = limits->ping_seconds / 2, .silent_seconds = limits->silent_seconds,
        .max_unacknowledged = MAX_UNACKNOWLEDGED, .max_unacknowledged_bytes = MAX_UNACKNOWLEDGED_BYTES};
    double now = seconds_now();
    enum status status = STATUS_OK;
    if (comm_rank(session->comm) == 0)
        status = leader_create(session->comm, config, callbacks, now, &session->leader);
    if (!status && (!session->leader || comm_size(session->comm) == 1))
        status = worker_create(session->comm, &worker, now, &session->worker);
    return status;
}

enum status session_run(struct comm *comm, const struct session_config *config, const struct session_callbacks *callbacks)
{
    struct session session = {.comm = comm};
    signals_begin();
    enum status status = set_up(&session, config, callbacks);
    status = comm_agree(comm, status);
    if (!status)
        status = loop(&session);
    worker_free(session.worker);
    leader_free(session.leader);
    return status;
}

#include "bnsweep/mpi/worker.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/mpi/fifo.h"

#include <string.h>

enum { MANAGER_RANK = 0, MESSAGES_A_STEP = 64 };

/* A record in the books. */
struct entry {
    uint32_t trajectory, attempt, number;
    size_t size;
};

struct worker {
    struct comm *comm; /* not owned */
    struct worker_config config;
    struct child *child; /* owned; NULL while idle */
    uint32_t trajectory, attempt;
    struct fifo books;
    size_t unacknowledged_bytes;
    struct pack frame;
    double heard, spoke, progressed;
    bool leaving, halted, over;
};

static enum status say(struct worker *worker, const struct wire_message *message, double now)
{
    pack_clear(&worker->frame);
    enum status status = wire_pack(message, &worker->frame);
    worker->spoke = now;
    return status ? status : comm_send(worker->comm, MANAGER_RANK, worker->frame.data, worker->frame.size);
}

enum status worker_create(struct comm *comm, const struct worker_config *config, double now, struct worker **out)
{
    *out = NULL;
    struct worker *worker = mem_array(1, sizeof *worker);
    if (!worker)
        return STATUS_NOMEM;
    *worker = (struct worker){.comm = comm, .config = *config, .books.item_size = sizeof(struct entry), .heard = now};
    enum status status = say(worker, &(struct wire_message){.tag = WIRE_HELLO, .text = comm_host(comm), .bytes = config->identity,
                                                            .size = strlen(config->identity)}, now);
    if (status) {
        worker_free(worker);
        return status;
    }
    *out = worker;
    return STATUS_OK;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    child_free(worker->child);
    fifo_free(&worker->books);
    pack_free(&worker->frame);
    mem_free(worker);
}

/* --- from the manager --- */

static enum status take_job(struct worker *worker, const struct wire_message *job, double now)
{
    struct wire_message answer = {.tag = WIRE_STOPPED, .trajectory = job->trajectory, .attempt = job->attempt};
    if (worker->leaving) /* our goodbye and the job have crossed */
        return say(worker, &answer, now);
    if (worker->child)
        return status_fail(STATUS_CORRUPT, "a second job while trajectory %u is trained", worker->trajectory);
    enum status status = child_spawn(&worker->config.child, job, now, &worker->child);
    if (!status) {
        worker->trajectory = job->trajectory;
        worker->attempt = job->attempt;
        return STATUS_OK;
    }
    /* No fault of the trajectory: it goes back, and whoever cannot start a process must not take the next one. */
    status = worker_leave(worker, status_message(), now);
    return status ? status : say(worker, &answer, now);
}

static void take_ack(struct worker *worker, const struct wire_message *ack)
{
    for (size_t i = worker->books.count; i-- > 0;) {
        const struct entry *entry = fifo_at(&worker->books, i);
        if (entry->trajectory != ack->trajectory || entry->attempt != ack->attempt || entry->number != ack->number)
            continue;
        for (size_t k = 0; k <= i; k++) {
            worker->unacknowledged_bytes -= ((struct entry *)fifo_at(&worker->books, 0))->size;
            fifo_pop(&worker->books);
        }
        break;
    }
    if (worker->child && worker->trajectory == ack->trajectory && worker->attempt == ack->attempt)
        child_acknowledge(worker->child, ack->number);
}

/* The books are closed: a child whose pipe is full must be able to go on to its end. */
static void take_halt(struct worker *worker, double now)
{
    worker->halted = true;
    fifo_free(&worker->books);
    worker->unacknowledged_bytes = 0;
    if (worker->child)
        child_halt(worker->child, now);
}

static enum status take_quit(struct worker *worker, double now)
{
    child_free(worker->child);
    worker->child = NULL;
    worker->over = true;
    return say(worker, &(struct wire_message){.tag = WIRE_BYE}, now);
}

enum status worker_message(struct worker *worker, const struct wire_message *message, double now)
{
    worker->heard = now;
    switch (message->tag) {
    case WIRE_JOB:
        return take_job(worker, message, now);
    case WIRE_ACK:
        take_ack(worker, message);
        return STATUS_OK;
    case WIRE_PING:
        return STATUS_OK;
    case WIRE_DRAIN:
        if (worker->child)
            child_stop(worker->child, now);
        return STATUS_OK;
    case WIRE_HALT:
        take_halt(worker, now);
        return STATUS_OK;
    case WIRE_QUIT:
        return worker->over ? STATUS_OK : take_quit(worker, now);
    default:
        return status_fail(STATUS_CORRUPT, "the manager sent a worker a %s message", wire_name(message->tag));
    }
}

/* --- from the child --- */

static enum status pass_on(struct worker *worker, const struct wire_message *message, double now)
{
    if (message->tag == WIRE_PROGRESS) {
        if (now - worker->progressed < worker->config.alive_seconds)
            return STATUS_OK;
        worker->progressed = now;
    }
    if (message->tag == WIRE_RECORD && !worker->halted) {
        struct entry entry = {message->trajectory, message->attempt, message->number, message->size};
        if (fifo_push(&worker->books, &entry))
            return STATUS_NOMEM;
        worker->unacknowledged_bytes += entry.size;
    }
    enum status status = say(worker, message, now);
    if (message->tag == WIRE_FINISHED || message->tag == WIRE_STOPPED || message->tag == WIRE_FAILED) {
        child_free(worker->child);
        worker->child = NULL;
    }
    return status;
}

static bool books_full(const struct worker *worker)
{
    return worker->books.count >= worker->config.max_unacknowledged ||
           worker->unacknowledged_bytes >= worker->config.max_unacknowledged_bytes;
}

enum status worker_step(struct worker *worker, double now, bool *active)
{
    struct wire_message message;
    for (unsigned i = 0; i < MESSAGES_A_STEP && worker->child; i++) {
        if (!child_poll(worker->child, now, !books_full(worker), &message))
            break;
        *active = true;
        enum status status = pass_on(worker, &message, now);
        if (status)
            return status;
    }
    if (worker->over)
        return STATUS_OK;
    /* A manager in our own loop cannot be silent: if it was busy, so were we. */
    bool elsewhere = comm_rank(worker->comm) != MANAGER_RANK;
    if (elsewhere && worker->config.silent_seconds > 0 && now - worker->heard > worker->config.silent_seconds)
        return status_fail(STATUS_IO, "rank %d on %s heard nothing of rank 0 for %.0f s and gives up", comm_rank(worker->comm),
                           comm_host(worker->comm), now - worker->heard);
    if (now - worker->spoke >= worker->config.alive_seconds)
        return say(worker, &(struct wire_message){.tag = WIRE_ALIVE}, now);
    return STATUS_OK;
}

enum status worker_leave(struct worker *worker, const char *reason, double now)
{
    if (worker->leaving)
        return STATUS_OK;
    worker->leaving = true;
    if (worker->child)
        child_stop(worker->child, now);
    return say(worker, &(struct wire_message){.tag = WIRE_LEAVING, .text = reason}, now);
}

bool worker_over(const struct worker *worker)
{
    return worker->over;
}

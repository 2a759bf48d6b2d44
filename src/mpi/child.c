#include "bnsweep/mpi/child.h"

#include "spawn_internal.h"

#include "bnsweep/base/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16, REASON_SIZE = 1024 };

struct child {
    pid_t pid;
    int to, from; /* our ends of the pipes; to is -1 after child_halt, from after its end */
    uint32_t trajectory, attempt, records;
    double hang_seconds, stop_seconds, heard, kill_at; /* kill_at is 0 until it is asked to stop */
    bool killed, gone, finished;
    int wait_status;
    struct pack out; /* not yet written, from out_at */
    size_t out_at;
    uint32_t acknowledged, told;
    unsigned char *in; /* owned: in_size bytes from in_at are not yet consumed */
    size_t in_at, in_size, in_capacity;
    char reason[REASON_SIZE]; /* why we killed it, or its own message */
};

enum status child_spawn(const struct child_config *config, const struct wire_message *job, double now, struct child **out)
{
    *out = NULL;
    struct child *child = mem_array(1, sizeof *child);
    if (!child)
        return STATUS_NOMEM;
    child->trajectory = job->trajectory;
    child->attempt = job->attempt;
    child->hang_seconds = config->hang_seconds;
    child->stop_seconds = config->stop_seconds;
    child->heard = now;
    child->in_capacity = READ_SIZE;
    child->in = mem_array(child->in_capacity, 1);
    struct wire_message message = *job;
    message.pid = (uint32_t)getpid();
    enum status status = child->in ? wire_pack(&message, &child->out) : STATUS_NOMEM;
    if (!status)
        status = spawn_process(config, &child->pid, &child->to, &child->from);
    if (status) {
        mem_free(child->in);
        pack_free(&child->out);
        mem_free(child);
        return status;
    }
    *out = child;
    return STATUS_OK;
}

/* --- talk --- */

/* Kill the child; what it did wrong is the reason of its failure, the first one counts. */
__attribute__((format(printf, 2, 3))) static void condemn(struct child *child, const char *format, ...)
{
    if (child->killed)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(child->reason, sizeof child->reason, format, arguments);
    va_end(arguments);
    child->killed = true;
    if (!child->gone)
        kill(child->pid, SIGKILL);
}

/* Write what waits; acknowledgements that pile up behind a child that does not read are merged into the newest. */
static void flush(struct child *child)
{
    if (child->out_at == child->out.size && child->acknowledged > child->told) {
        struct wire_message ack = {.tag = WIRE_ACK, .trajectory = child->trajectory, .attempt = child->attempt,
                                   .number = child->acknowledged};
        pack_clear(&child->out);
        child->out_at = 0;
        if (wire_pack(&ack, &child->out)) {
            pack_clear(&child->out);
            return;
        }
        child->told = child->acknowledged;
    }
    while (child->out_at < child->out.size && child->to >= 0) {
        ssize_t written = write(child->to, child->out.data + child->out_at, child->out.size - child->out_at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return; /* full: later; broken: its end will be noticed */
        child->out_at += (size_t)written;
    }
}

static enum status make_room(struct child *child, size_t wanted)
{
    if (child->in_at) {
        memmove(child->in, child->in + child->in_at, child->in_size);
        child->in_at = 0;
    }
    if (wanted <= child->in_capacity)
        return STATUS_OK;
    unsigned char *grown = mem_grow(child->in, child->in_capacity, wanted, 1);
    if (!grown)
        return STATUS_NOMEM;
    child->in = grown;
    child->in_capacity = wanted;
    return STATUS_OK;
}

/* Read once; false where nothing came. */
static bool read_more(struct child *child, size_t frame_size)
{
    if (child->from < 0)
        return false;
    if (make_room(child, frame_size > child->in_size ? frame_size : child->in_size + 1)) {
        condemn(child, "out of memory for a message of %zu bytes", frame_size);
        return false;
    }
    ssize_t got;
    do
        got = read(child->from, child->in + child->in_size, child->in_capacity - child->in_size);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        child->in_size += (size_t)got;
        return true;
    }
    if (got == 0 || errno != EAGAIN) {
        close(child->from);
        child->from = -1;
    }
    return false;
}

/* Take in a message; true where it is one to pass on. */
static bool accept_message(struct child *child, const struct wire_message *message)
{
    bool known = message->tag == WIRE_RECORD || message->tag == WIRE_PROGRESS || message->tag == WIRE_FINISHED ||
                 message->tag == WIRE_FAILED;
    if (!known || message->trajectory != child->trajectory || message->attempt != child->attempt) {
        condemn(child, "sent a %s message that does not belong here", wire_name(message->tag));
    } else if (message->tag == WIRE_RECORD) {
        if (message->number == child->records + 1) {
            child->records++;
            return true;
        }
        condemn(child, "sent record %u after record %u", message->number, child->records);
    } else if (message->tag == WIRE_PROGRESS) {
        return true;
    } else if (message->tag == WIRE_FINISHED) {
        child->finished = message->number == child->records;
        if (!child->finished)
            condemn(child, "says it sent %u records, %u came", message->number, child->records);
    } else {
        snprintf(child->reason, sizeof child->reason, "%s", message->text);
    }
    return false;
}

/* Read until there is a message to pass on or nothing more comes. */
static bool next_message(struct child *child, double now, struct wire_message *out)
{
    while (!child->killed) {
        const unsigned char *bytes = child->in + child->in_at;
        size_t frame_size;
        if (wire_measure(bytes, child->in_size, &frame_size)) {
            condemn(child, "wrote something else than messages: %s", status_message());
            return false;
        }
        if (!frame_size || child->in_size < frame_size) {
            if (!read_more(child, frame_size))
                return false;
            continue;
        }
        child->in_at += frame_size;
        child->in_size -= frame_size;
        child->heard = now;
        if (wire_unpack(bytes, frame_size, out))
            condemn(child, "wrote a damaged message: %s", status_message());
        else if (accept_message(child, out))
            return true;
    }
    return false;
}

/* --- end --- */

static void describe_end(const struct child *child, char *text, size_t size)
{
    int status = child->wait_status;
    if (child->killed)
        snprintf(text, size, "%s", child->reason);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d (%s)%s", WTERMSIG(status), sigdescr_np(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? ": out of memory?" : "");
    else if (WEXITSTATUS(status) && child->reason[0])
        snprintf(text, size, "%s (exit status %d)", child->reason, WEXITSTATUS(status));
    else if (WEXITSTATUS(status))
        snprintf(text, size, "exit status %d without a message", WEXITSTATUS(status));
    else
        snprintf(text, size, "%s", child->reason[0] ? child->reason : "ended without having finished");
}

static void conclude(struct child *child, struct wire_message *out)
{
    int status = child->wait_status;
    bool clean = !child->killed && WIFEXITED(status);
    bool stopped = clean && WEXITSTATUS(status) == CHILD_STOPPED_EXIT;
    /* Asked to stop, and too slow (killed without a fault) or not yet listening: the state it saved last still counts. */
    if (child->kill_at > 0 && WIFSIGNALED(status))
        stopped = child->killed ? !child->reason[0] : WTERMSIG(status) == SIGTERM;
    *out = (struct wire_message){.trajectory = child->trajectory, .attempt = child->attempt};
    if (clean && child->finished && WEXITSTATUS(status) == 0) {
        out->tag = WIRE_FINISHED;
        out->number = child->records;
    } else if (stopped) {
        out->tag = WIRE_STOPPED;
    } else {
        char text[REASON_SIZE];
        describe_end(child, text, sizeof text);
        memcpy(child->reason, text, sizeof text);
        out->tag = WIRE_FAILED;
        out->text = child->reason;
    }
}

static void watch_clock(struct child *child, double now)
{
    if (child->kill_at > 0 && now >= child->kill_at && !child->killed) {
        child->reason[0] = 0;
        child->killed = true;
        kill(child->pid, SIGKILL);
    }
    if (child->hang_seconds > 0 && now - child->heard > child->hang_seconds)
        condemn(child, "no progress for %.0f s", child->hang_seconds);
}

bool child_poll(struct child *child, double now, bool listen, struct wire_message *out)
{
    flush(child);
    if (!listen)
        child->heard = now;
    else if (next_message(child, now, out))
        return true;
    if (!child->gone) {
        child->gone = waitpid(child->pid, &child->wait_status, WNOHANG) == child->pid;
        if (!child->gone)
            watch_clock(child, now);
    }
    if (!child->gone || !listen)
        return false;
    if (next_message(child, now, out)) /* what it wrote between our last look and its end */
        return true;
    if (child->in_size && !child->killed && WIFEXITED(child->wait_status) && !WEXITSTATUS(child->wait_status))
        condemn(child, "ended within a message");
    conclude(child, out);
    return true;
}

void child_acknowledge(struct child *child, uint32_t number)
{
    if (number > child->acknowledged)
        child->acknowledged = number;
    flush(child);
}

void child_stop(struct child *child, double now)
{
    if (child->kill_at > 0 || child->gone)
        return;
    child->kill_at = now + child->stop_seconds;
    kill(child->pid, SIGTERM);
}

void child_halt(struct child *child, double now)
{
    child_stop(child, now);
    if (child->to < 0)
        return;
    flush(child);
    close(child->to);
    child->to = -1;
}

void child_free(struct child *child)
{
    if (!child)
        return;
    if (!child->gone)
        kill(child->pid, SIGKILL);
    /* A process that hangs in the kernel (a dead file server) cannot be waited for. */
    for (unsigned i = 0; !child->gone && i < 5000; i++) {
        child->gone = waitpid(child->pid, &child->wait_status, WNOHANG) != 0;
        if (!child->gone)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (child->to >= 0)
        close(child->to);
    if (child->from >= 0)
        close(child->from);
    mem_free(child->in);
    pack_free(&child->out);
    mem_free(child);
}

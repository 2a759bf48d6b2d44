#include "bnsweep/mpi/child.h"

#include "bnsweep/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16, REASON_SIZE = 1024, HIGH_DESCRIPTOR = 10 };

struct child {
    pid_t pid;
    int to, from; /* our ends of the pipes; from is -1 after its end */
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

/* --- start --- */

static bool is_mpi_variable(const char *variable)
{
    static const char *const prefixes[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* Return the environment without MPI's variables: an array to free, its strings not owned. NULL: out of memory. */
static char **clean_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **clean = mem_array(count + 1, sizeof *clean);
    for (size_t i = 0; clean && i < count; i++)
        if (!is_mpi_variable(environ[i]))
            clean[kept++] = environ[i];
    return clean;
}

/* A pipe whose ends are close-on-exec and above the descriptors that the child's ends become. */
static enum status open_pipe(int ends[2])
{
    int low[2] = {-1, -1};
    bool ok = !pipe2(low, O_CLOEXEC);
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = ok ? fcntl(low[i], F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR) : -1;
        ok = ok && ends[i] >= 0;
    }
    int error = errno;
    for (unsigned i = 0; i < 2; i++) {
        if (low[i] >= 0)
            close(low[i]);
        if (!ok && ends[i] >= 0)
            close(ends[i]);
    }
    return ok ? STATUS_OK : status_fail(STATUS_IO, "pipe to the training process: %s", strerror(error));
}

static void close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* Signals stay blocked in the child until trainer_begin has its handlers in place. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t blocked, defaults;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGUSR1);
    sigfillset(&defaults);
    sigdelset(&defaults, SIGPIPE);
    int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = error ? error : posix_spawnattr_setsigmask(attributes, &blocked);
    return error ? error : posix_spawnattr_setsigdefault(attributes, &defaults);
}

static int set_descriptors(posix_spawn_file_actions_t *actions, int in, int out)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = error ? error : posix_spawn_file_actions_adddup2(actions, in, CHILD_IN);
    error = error ? error : posix_spawn_file_actions_adddup2(actions, out, CHILD_OUT);
    return error ? error : posix_spawn_file_actions_addclosefrom_np(actions, CHILD_OUT + 1);
}

static enum status start(const struct child_config *config, int in, int out, pid_t *pid)
{
    const char *program = config->program ? config->program : "/proc/self/exe";
    char **environment = clean_environment();
    if (!environment)
        return STATUS_NOMEM;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int error = set_attributes(&attributes);
    error = error ? error : set_descriptors(&actions, in, out);
    error = error ? error : posix_spawn(pid, program, &actions, &attributes, config->arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    mem_free(environment);
    return error ? status_fail(STATUS_IO, "starting %s: %s", program, strerror(error)) : STATUS_OK;
}

static enum status start_with_pipes(const struct child_config *config, struct child *child)
{
    int to[2], from[2];
    enum status status = open_pipe(to);
    if (status)
        return status;
    status = open_pipe(from);
    if (status) {
        close_pipe(to);
        return status;
    }
    status = start(config, to[0], from[1], &child->pid);
    if (status) {
        close_pipe(to);
        close_pipe(from);
        return status;
    }
    close(to[0]);
    close(from[1]);
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    fcntl(from[0], F_SETFL, O_NONBLOCK);
    child->to = to[1];
    child->from = from[0];
    return STATUS_OK;
}

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
        status = start_with_pipes(config, child);
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
    close(child->to);
    if (child->from >= 0)
        close(child->from);
    mem_free(child->in);
    pack_free(&child->out);
    mem_free(child);
}

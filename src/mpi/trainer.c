#include "bnsweep/mpi/trainer.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/mpi/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal)
{
    (void)signal;
    stop_requested = 1;
}

static void set_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, stop = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
    sigset_t handled;
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGUSR1, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigemptyset(&handled);
    sigaddset(&handled, SIGINT);
    sigaddset(&handled, SIGTERM);
    sigaddset(&handled, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &handled, NULL);
}

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Wait up to `milliseconds` (-1: for ever) for bytes and append them; `*came` says whether any did. A worker that ends closes its end
 * as well, but then this process dies with it. */
static enum status read_some(struct trainer *trainer, int milliseconds, bool *came)
{
    *came = false;
    if (trainer->halted)
        return STATUS_OK;
    struct pollfd poll_in = {.fd = CHILD_IN, .events = POLLIN};
    int ready = poll(&poll_in, 1, milliseconds);
    if (ready < 0 && errno != EINTR)
        return status_fail(STATUS_IO, "waiting for the worker: %s", strerror(errno));
    if (ready <= 0)
        return STATUS_OK;
    unsigned char bytes[4096];
    ssize_t got = read(CHILD_IN, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return STATUS_OK;
    if (got < 0)
        return status_fail(STATUS_IO, "reading from the worker: %s", strerror(errno));
    trainer->halted = got == 0;
    pack_bytes(&trainer->in, bytes, (size_t)got);
    *came = got > 0;
    return trainer->in.failed ? status_fail(STATUS_NOMEM, "out of memory for a message") : STATUS_OK;
}

static enum status wait_for_job(struct trainer *trainer, struct wire_message *job)
{
    size_t size = 0;
    while (!size || trainer->in.size < size) {
        bool came;
        enum status status = read_some(trainer, -1, &came);
        if (!status && trainer->halted)
            status = status_fail(STATUS_IO, "the worker closed the pipe before it had given a job");
        if (!status && !size)
            status = wire_measure(trainer->in.data, trainer->in.size, &size);
        if (status)
            return status;
    }
    trainer->frame = mem_array(size, 1);
    if (!trainer->frame)
        return STATUS_NOMEM;
    memcpy(trainer->frame, trainer->in.data, size);
    trainer->in.size -= size;
    memmove(trainer->in.data, trainer->in.data + size, trainer->in.size);
    enum status status = wire_unpack(trainer->frame, size, job);
    if (!status && job->tag != WIRE_JOB)
        return status_fail(STATUS_CORRUPT, "a %s message instead of a job", wire_name(job->tag));
    return status;
}

enum status trainer_begin(struct trainer *trainer)
{
    *trainer = (struct trainer){0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_signals();
    if (fcntl(CHILD_IN, F_SETFD, FD_CLOEXEC) || fcntl(CHILD_OUT, F_SETFD, FD_CLOEXEC))
        return status_fail(STATUS_INPUT, "a training process is started by `bnsweep run`, not by hand");
    struct wire_message job;
    enum status status = wait_for_job(trainer, &job);
    if (status)
        return status;
    /* The parent may have died before prctl; then nobody would end this process. */
    if ((uint32_t)getppid() != job.pid)
        return status_fail(STATUS_IO, "the worker that started this process is gone");
    trainer->trajectory = job.trajectory;
    trainer->attempt = job.attempt;
    trainer->job = job.bytes;
    trainer->job_size = job.size;
    return STATUS_OK;
}

bool trainer_stop_requested(void)
{
    return stop_requested;
}

static enum status send_message(struct trainer *trainer, const struct wire_message *message)
{
    struct wire_message signed_message = *message;
    signed_message.trajectory = trainer->trajectory;
    signed_message.attempt = trainer->attempt;
    pack_clear(&trainer->out);
    enum status status = wire_pack(&signed_message, &trainer->out);
    for (size_t at = 0; !status && at < trainer->out.size;) {
        ssize_t written = write(CHILD_OUT, trainer->out.data + at, trainer->out.size - at);
        if (written >= 0)
            at += (size_t)written;
        else if (errno != EINTR)
            status = status_fail(STATUS_IO, "sending a %s message to the worker: %s", wire_name(message->tag), strerror(errno));
    }
    return status;
}

enum status trainer_record(struct trainer *trainer, uint32_t row, const void *bytes, size_t size)
{
    enum status status = send_message(trainer, &(struct wire_message){.tag = WIRE_RECORD, .number = trainer->records + 1, .row = row,
                                                                      .bytes = bytes, .size = size});
    if (!status)
        trainer->records++;
    return status;
}

enum status trainer_progress(struct trainer *trainer, uint64_t step, uint64_t steps)
{
    return send_message(trainer, &(struct wire_message){.tag = WIRE_PROGRESS, .step = step, .steps = steps});
}

enum status trainer_finish(struct trainer *trainer)
{
    return send_message(trainer, &(struct wire_message){.tag = WIRE_FINISHED, .number = trainer->records});
}

enum status trainer_fail(struct trainer *trainer, const char *reason)
{
    return send_message(trainer, &(struct wire_message){.tag = WIRE_FAILED, .text = reason});
}

/* Understand the acknowledgements that have come in whole. */
static enum status read_acks(struct trainer *trainer)
{
    size_t at = 0;
    for (;;) {
        size_t size;
        struct wire_message ack;
        enum status status = wire_measure(trainer->in.data + at, trainer->in.size - at, &size);
        if (status)
            return status;
        if (!size || trainer->in.size - at < size)
            break;
        status = wire_unpack(trainer->in.data + at, size, &ack);
        if (status)
            return status;
        if (ack.tag == WIRE_ACK && ack.number > trainer->acknowledged)
            trainer->acknowledged = ack.number;
        at += size;
    }
    if (at) {
        trainer->in.size -= at;
        memmove(trainer->in.data, trainer->in.data + at, trainer->in.size);
    }
    return STATUS_OK;
}

enum status trainer_look(struct trainer *trainer)
{
    for (bool came = true; came;) {
        enum status status = read_some(trainer, 0, &came);
        if (status)
            return status;
    }
    return read_acks(trainer);
}

enum status trainer_wait(struct trainer *trainer, uint32_t number, double seconds, bool *done)
{
    double until = seconds_now() + seconds;
    enum status status = trainer_look(trainer);
    while (!status && !trainer->halted && trainer->acknowledged < number) {
        double left = until - seconds_now();
        if (left <= 0)
            break;
        bool came;
        status = read_some(trainer, left < 1 ? (int)(left * 1000) + 1 : 1000, &came);
        if (!status)
            status = read_acks(trainer);
    }
    *done = !status && trainer->acknowledged >= number;
    return status;
}

void trainer_end(struct trainer *trainer)
{
    pack_free(&trainer->in);
    pack_free(&trainer->out);
    mem_free(trainer->frame);
    *trainer = (struct trainer){0};
}

/* A training process that trains nothing: sends the records that its job asks for, or misbehaves as the job says.
 * Job: "MODE UNTIL PAUSE RECORDS SIZE STATE ROW...": misbehave up to attempt UNTIL; PAUSE ms before each record; RECORDS of SIZE bytes
 * for each row, then its END; STATE: a file that remembers how many records are on disk, or "-". While there is a file "hold", nothing
 * comes after the first HELD_AT records, so that no training is over before a test wants it to be. */
#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/measure/record.h"
#include "bnsweep/mpi/child.h"
#include "bnsweep/mpi/trainer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROWS = 64, MAX_SIZE = 1 << 20, HELD_AT = 4 };

struct task {
    char mode[32], state[512];
    unsigned until, pause, records, rows, row[MAX_ROWS];
    size_t size;
};

static void parse(const struct trainer *trainer, struct task *task)
{
    static char text[4096];
    int used = 0, more;
    memcpy(text, trainer->job, trainer->job_size < sizeof text - 1 ? trainer->job_size : sizeof text - 1);
    *task = (struct task){0};
    if (sscanf(text, "%31s %u %u %u %zu %511s%n", task->mode, &task->until, &task->pause, &task->records, &task->size, task->state,
               &used) != 6 || task->size > MAX_SIZE)
        exit(9);
    for (const char *at = text + used; task->rows < MAX_ROWS && sscanf(at, "%u%n", &task->row[task->rows], &more) == 1; at += more)
        task->rows++;
    if (trainer->attempt > task->until)
        strcpy(task->mode, "ok");
}

static void nap(unsigned milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

static bool is(const struct task *task, const char *mode)
{
    return !strcmp(task->mode, mode);
}

static void misbehave(struct trainer *trainer, const struct task *task)
{
    if (is(task, "segv"))
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (is(task, "abort"))
        abort();
    if (is(task, "kill"))
        raise(SIGKILL);
    if (is(task, "exit0"))
        exit(0);
    if (is(task, "exit3"))
        trainer_fail(trainer, "the data file is gone"), exit(3);
    if (is(task, "hang"))
        for (;;)
            pause();
    if (is(task, "garbage") && write(CHILD_OUT, "hello world, this is no message\n", 32) == 32)
        pause();
    if (is(task, "torn")) { /* a message whose rest never comes */
        struct pack pack = {0};
        struct wire_message record = {.tag = WIRE_RECORD, .trajectory = trainer->trajectory, .attempt = trainer->attempt,
                                      .number = trainer->records + 1, .row = task->row[0], .bytes = task, .size = 100};
        if (!wire_pack(&record, &pack) && write(CHILD_OUT, pack.data, 50) == 50)
            exit(0);
    }
    if (is(task, "flood"))
        while (write(CHILD_OUT, task, sizeof *task) > 0)
            ;
    if (is(task, "memory")) { /* as `ulimit -v` does it */
        struct rlimit limit = {1 << 28, 1 << 28};
        setrlimit(RLIMIT_AS, &limit);
        if (!mem_array(1 << 20, 1 << 10))
            trainer_fail(trainer, status_message()), exit(1);
    }
    if (is(task, "env"))
        for (char **variable = environ; *variable; variable++)
            if (!strncmp(*variable, "OMPI_", 5) || !strncmp(*variable, "PMIX_", 5))
                trainer_fail(trainer, *variable), exit(4);
    if (is(task, "descriptors"))
        for (int fd = CHILD_OUT + 1; fd < 256; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                trainer_fail(trainer, "an inherited descriptor is open"), exit(5);
}

static unsigned load(const struct task *task)
{
    unsigned done = 0;
    FILE *file = fopen(task->state, "r");
    if (file && fscanf(file, "%u", &done) != 1)
        done = 0;
    if (file)
        fclose(file);
    return done;
}

/* Remember that the first `done` records need not be sent again: only once they are on disk. */
static enum status save(struct trainer *trainer, const struct task *task, unsigned done)
{
    bool safe = true;
    if (is(task, "deaf"))
        for (;;)
            pause();
    if (done > task->rows * task->records) /* a state is of the training; the ENDs after it come together */
        done = task->rows * task->records;
    if (task->state[0] == '-')
        return STATUS_OK;
    enum status status = trainer_wait(trainer, trainer->records, 10, &safe);
    if (status || !safe)
        return status ? status : status_fail(STATUS_IO, "not all records are on disk");
    FILE *file = fopen(task->state, "w");
    if (file) {
        fprintf(file, "%u\n", done);
        fclose(file);
    }
    return STATUS_OK;
}

static enum status send_record(struct trainer *trainer, const struct task *task, unsigned i)
{
    static unsigned char bytes[MAX_SIZE];
    unsigned row = task->row[i % task->rows], k = i / task->rows; /* all units of a trajectory advance together */
    bool end = k == task->records;
    if (end && is(task, "noend"))
        return STATUS_OK;
    for (size_t b = 0; b < task->size; b++)
        bytes[b] = (unsigned char)(row * 7 + k * 13 + b);
    bytes[0] = end ? RECORD_END : RECORD_VALUES;
    if (is(task, "wrongrow") && end)
        row += 1000;
    return trainer_record(trainer, row, bytes, task->size);
}

int main(void)
{
    struct trainer trainer;
    struct task task;
    enum status status = trainer_begin(&trainer);
    if (status) {
        log_write(LOG_ERROR, "%s", status_message());
        return status_exit_code(status);
    }
    parse(&trainer, &task);
    unsigned total = task.rows * (task.records + 1);
    for (unsigned i = load(&task); i < total && !status; i++) {
        if (i == 1)
            misbehave(&trainer, &task);
        if (task.pause)
            nap(task.pause);
        while (i >= HELD_AT && !trainer_stop_requested() && access("hold", F_OK) == 0)
            nap(5);
        if (trainer_stop_requested()) {
            status = save(&trainer, &task, i);
            if (status)
                trainer_fail(&trainer, status_message());
            trainer_end(&trainer);
            return status ? status_exit_code(status) : CHILD_STOPPED_EXIT;
        }
        status = send_record(&trainer, &task, i);
        if (!status)
            status = trainer_progress(&trainer, i + 1, total);
    }
    if (!status)
        status = trainer_finish(&trainer);
    trainer_end(&trainer);
    return status_exit_code(status);
}

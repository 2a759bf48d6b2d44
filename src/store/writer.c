#include "bnsweep/store/writer.h"

#include "admission_internal.h"
#include "apply_internal.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/store/lock.h"
#include "compare_internal.h"
#include "paths_internal.h"
#include "publish_internal.h"
#include "replace_internal.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* At most about one part in PUBLISH_SHARE of the time is spent publishing, and never more often than every PUBLISH_LEAST s. */
enum { PUBLISH_SHARE = 100, PUBLISH_LEAST = 10 };

struct writer {
    char path[PATH_MAX];
    struct lock lock;
    struct journal journal;
    struct schema schema;
    pid_t child;               /* 0: none */
    struct journal_mark mark;  /* where the journal was when the child started */
    double started, last_end, last_length; /* monotonic seconds: of the child; of the last publishing */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Bring the store into the state in which this run starts. */
static enum status admit(struct admission *admission, const char *store, const char *journal)
{
    hid_t file = -1;
    bool exists = access(store, F_OK) == 0;
    enum status status = exists ? h5_open(store, false, &file) : paths_check_absent(store);
    if (!status && exists)
        status = compare_layout(file, store, admission->layout);
    if (!status)
        status = status_context(admission_find(admission, file), "%s", store);
    if (file >= 0)
        H5Fclose(file);
    struct publish_edit edit = {admission_edit, admission, status ? 0 : admission_growth(admission)};
    if (!status && !exists)
        status = publish_create(store, admission->layout, &edit);
    else if (!status && (admission->changes || access(journal, F_OK) == 0))
        status = publish_update(store, &edit);
    return status;
}

static enum status read_back(struct admission *admission, const char *store, struct schema *schema)
{
    hid_t file;
    enum status status = h5_open(store, false, &file);
    if (status)
        return status;
    status = schema_read(file, store, schema);
    if (!status)
        status = status_context(admission_read_states(admission, file), "%s", store);
    H5Fclose(file);
    return status;
}

static enum status start(struct writer *writer, struct admission *admission)
{
    char journal[PATH_MAX];
    enum status status = paths_beside(writer->path, ".journal", journal);
    if (status)
        return status;
    replace_clean(writer->path);
    replace_clean(journal);
    status = admit(admission, writer->path, journal);
    if (!status)
        status = read_back(admission, writer->path, &writer->schema);
    if (!status)
        status = journal_create(journal, writer->schema.store, writer->schema.applied + 1, &writer->journal);
    return status;
}

enum status writer_open(const char *path, const struct layout *layout, const struct writer_units *units,
                        struct writer_unit *out_units, struct writer **out)
{
    *out = NULL;
    struct admission admission = {.layout = layout, .units = units, .out = out_units};
    struct writer *writer = mem_array(1, sizeof *writer);
    if (!writer)
        return STATUS_NOMEM;
    writer->journal.fd = writer->lock.fd = -1;
    writer->last_end = now();
    enum status status = paths_resolve(path, writer->path);
    if (!status)
        status = lock_take(writer->path, &writer->lock);
    if (!status)
        status = start(writer, &admission);
    admission_free(&admission);
    if (!status) {
        *out = writer;
        return STATUS_OK;
    }
    journal_close(&writer->journal);
    lock_release(&writer->lock);
    mem_free(writer);
    return status;
}

static enum status check_row(const struct writer *writer, uint64_t row)
{
    if (row >= writer->schema.rows)
        return status_fail(STATUS_CORRUPT, "row %llu, but the store has %llu", (unsigned long long)row,
                           (unsigned long long)writer->schema.rows);
    return STATUS_OK;
}

enum status writer_record(struct writer *writer, uint64_t row, uint32_t attempt, uint64_t number, const void *bytes, size_t size)
{
    struct record record;
    enum status status = check_row(writer, row);
    if (status)
        return status;
    /* What is in the journal must be publishable: a bad record would stand in the way of all that follow. */
    status = record_unpack(bytes, size, &record);
    if (!status)
        status = apply_check(&record, &writer->schema.extent);
    record_free(&record);
    if (status)
        return status_context(status, "record %llu of row %llu", (unsigned long long)number, (unsigned long long)row);
    struct journal_entry entry = {.kind = JOURNAL_RECORD, .row = row, .attempt = attempt, .number = number, .bytes = bytes, .size = size};
    return journal_append(&writer->journal, &entry);
}

enum status writer_status(struct writer *writer, uint64_t row, enum unit_status status, uint32_t attempts, const char *host,
                          int32_t rank, double started, const char *reason)
{
    struct journal_entry entry = {.kind = JOURNAL_STATUS, .row = row, .status = status, .attempts = attempts, .rank = rank, .started = started};
    enum status checked = check_row(writer, row);
    if (checked)
        return checked;
    snprintf(entry.host, sizeof entry.host, "%s", host);
    snprintf(entry.reason, sizeof entry.reason, "%s", reason);
    return journal_append(&writer->journal, &entry);
}

bool writer_pending(const struct writer *writer)
{
    return writer->journal.pending.size > 0;
}

enum status writer_commit(struct writer *writer)
{
    return journal_commit(&writer->journal);
}

static bool has_news(const struct writer *writer)
{
    return writer->journal.size > JOURNAL_HEADER_SIZE;
}

bool writer_publish_due(const struct writer *writer)
{
    double pause = (PUBLISH_SHARE - 1) * writer->last_length;
    return !writer->child && has_news(writer) && now() - writer->last_end >= (pause < PUBLISH_LEAST ? PUBLISH_LEAST : pause);
}

enum status writer_publish_start(struct writer *writer, char *const argv[])
{
    posix_spawn_file_actions_t actions;
    if (writer->child)
        return status_fail(STATUS_INTERNAL, "%s is being published already", writer->path);
    enum status status = writer_commit(writer);
    if (status)
        return status;
    writer->mark = journal_mark(&writer->journal);
    writer->started = now();
    posix_spawn_file_actions_init(&actions);
    /* The child shares the lock, and a half-dead one keeps it. */
    posix_spawn_file_actions_adddup2(&actions, writer->lock.fd, LOCK_INHERITED_FD);
    int error = posix_spawn(&writer->child, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!error)
        return STATUS_OK;
    writer->child = 0;
    writer->last_end = now();
    return status_fail(STATUS_IO, "cannot start a process that publishes %s: %s", writer->path, strerror(error));
}

static enum status judge_child(struct writer *writer, int result)
{
    if (WIFSIGNALED(result))
        return status_fail(STATUS_IO, "publishing %s failed: its process was ended by signal %d", writer->path, WTERMSIG(result));
    if (WEXITSTATUS(result) != 0)
        return status_fail(STATUS_IO, "publishing %s failed: its process ended with status %d", writer->path, WEXITSTATUS(result));
    /* What came after the start stays in the journal, though the child may have seen some of it: the store knows what it has. */
    return journal_restart(&writer->journal, writer->mark);
}

/* Take leave of a child that has ended; `*finished` false where it has not. */
static enum status reap(struct writer *writer, int flags, bool *finished)
{
    int result;
    pid_t pid;
    *finished = false;
    if (!writer->child)
        return STATUS_OK;
    do
        pid = waitpid(writer->child, &result, flags);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return STATUS_OK;
    *finished = true;
    writer->child = 0;
    writer->last_end = now();
    writer->last_length = writer->last_end - writer->started;
    if (pid < 0)
        return status_fail(STATUS_IO, "lost the process that publishes %s: %s", writer->path, strerror(errno));
    return judge_child(writer, result);
}

enum status writer_publish_poll(struct writer *writer, bool *finished)
{
    return reap(writer, WNOHANG, finished);
}

const char *writer_path(const struct writer *writer)
{
    return writer->path;
}

enum status writer_close(struct writer *writer)
{
    bool finished;
    if (!writer)
        return STATUS_OK;
    reap(writer, 0, &finished); /* if it failed, the same is tried once more here */
    enum status status = journal_commit(&writer->journal);
    if (!status && has_news(writer))
        status = publish_update(writer->path, NULL);
    if (!status && unlink(writer->journal.path) == 0)
        status = replace_sync_folder(writer->path);
    journal_close(&writer->journal);
    lock_release(&writer->lock);
    mem_free(writer);
    return status;
}

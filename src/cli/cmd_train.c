/* The training child: a job in, records out. Everything that can crash or run out of memory happens here, in a process of its own. */
#include "commands.h"
#include "files.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/measure/record.h"
#include "bnsweep/mpi/child.h"
#include "bnsweep/mpi/trainer.h"
#include "bnsweep/run/applied.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/run/job.h"
#include "bnsweep/run/state.h"
#include "bnsweep/sweep/identity.h"
#include "bnsweep/sweep/settings_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_SECONDS 0.5
#define ACKNOWLEDGE_SECONDS 60 /* longer than any commit takes */

struct training {
    struct trainer trainer;
    struct job job;
    struct files files;
    struct trajectory *trajectory;
    struct pack pack;
    float *values; /* [the largest record] */
    double started, progressed, saved;
    double seconds_before; /* of earlier attempts */
    bool prepared;         /* a state waits for record number `prepared_after` to be on disk */
    uint32_t prepared_after;
};

static double clock_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static enum status send_record(struct training *t, size_t unit, const struct record *record)
{
    pack_clear(&t->pack);
    enum status status = record_pack(record, &t->pack);
    return status ? status : trainer_record(&t->trainer, t->job.rows[unit], t->pack.data, t->pack.size);
}

/* The trajectory's sink: measured doubles become the store's floats. */
static enum status send_values(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    struct training *t = context;
    for (size_t i = 0; i < count; i++)
        t->values[i] = (float)values[i];
    struct record record = {.kind = RECORD_VALUES, .group = group, .index = index, .count = (uint32_t)count, .values = t->values};
    return send_record(t, unit, &record);
}

static size_t largest_record(const struct variables_extent *extent)
{
    size_t largest = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        size_t size = variables_record_size((enum variable_group)group, extent);
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* Go on from the saved state, unless the store lacks what was measured before it: nobody would measure that again. */
static enum status resume(struct training *t)
{
    enum status status = state_load(t->trajectory, t->job.state, t->job.key);
    uint64_t step = t->trajectory->step;
    if (status || job_may_resume(&t->job, step))
        return status;
    return status_fail(STATUS_VERSION, "the state '%s' is of step %llu, but the store lacks checks or samples before it", t->job.state,
                       (unsigned long long)step);
}

/* Build the trajectory, and go on from its saved state where there is one that fits. */
static enum status set_up(struct training *t)
{
    struct trajectory_config config;
    struct variables_extent extent = configure_extent(&t->job.settings);
    enum status status = identity_verify_files(&t->job.settings);
    if (!status)
        status = files_read(&t->job.settings, &t->files);
    if (status)
        return status;
    t->values = mem_array(largest_record(&extent), sizeof *t->values);
    if (!t->values)
        return STATUS_NOMEM;
    status = configure_trajectory(&t->job.settings, t->job.count, t->job.momenta, &t->files.view, &config);
    struct trajectory_sink sink = {t, send_values};
    if (!status)
        status = trajectory_create(&t->trajectory, &config, &sink);
    if (!status && access(t->job.state, F_OK) == 0 && (status = resume(t)) != STATUS_OK) {
        fprintf(stderr, "bnsweep: warning: training starts anew: %s\n", status_message());
        trajectory_free(t->trajectory);
        status = trajectory_create(&t->trajectory, &config, &sink);
    }
    if (!status)
        t->seconds_before = t->trajectory->seconds;
    return status;
}

/* Give a prepared state its name once all records sent before it are on disk. */
static enum status publish_state(struct training *t, double wait_seconds)
{
    bool safe = false;
    enum status status = STATUS_OK;
    if (!t->prepared)
        return STATUS_OK;
    if (wait_seconds > 0)
        status = trainer_wait(&t->trainer, t->prepared_after, wait_seconds, &safe);
    else if ((status = trainer_look(&t->trainer)) == STATUS_OK)
        safe = t->trainer.acknowledged >= t->prepared_after;
    if (status || !safe)
        return status;
    t->prepared = false;
    if (state_publish(t->job.state))
        fprintf(stderr, "bnsweep: warning: %s\n", status_message());
    return STATUS_OK;
}

/* A state that cannot be written (a full disk) is no fault of the unit: it trains on and tries again later. */
static void prepare_state(struct training *t)
{
    t->saved = clock_seconds();
    t->prepared_after = t->trainer.records;
    t->prepared = !state_prepare(t->trajectory, t->job.state, t->job.key);
    if (!t->prepared)
        fprintf(stderr, "bnsweep: warning: %s\n", status_message());
}

/* Between two steps: progress, and the saving of states. */
static enum status look_around(struct training *t)
{
    double now = clock_seconds();
    enum status status = publish_state(t, 0);
    t->trajectory->seconds = t->seconds_before + now - t->started;
    if (!status && now - t->progressed >= PROGRESS_SECONDS) {
        t->progressed = now;
        status = trainer_progress(&t->trainer, t->trajectory->step, t->trajectory->config.plan.steps);
    }
    if (!status && !t->prepared && now - t->saved >= t->job.state_every)
        prepare_state(t);
    return status;
}

static enum status stop(struct training *t)
{
    prepare_state(t);
    enum status status = publish_state(t, ACKNOWLEDGE_SECONDS);
    if (!status && t->prepared)
        return status_fail(STATUS_IO, "the records were not written in time; the state of step %llu is not saved",
                           (unsigned long long)t->trajectory->step);
    return status ? status : status_fail(STATUS_INCOMPLETE, "stopped at step %llu", (unsigned long long)t->trajectory->step);
}

static enum status send_end(struct training *t, size_t unit, enum record_outcome outcome)
{
    struct record record = {.kind = RECORD_END, .outcome = outcome, .steps = t->trajectory->step, .seconds = t->trajectory->seconds};
    struct settings asked = t->job.settings, applied;
    char text[SETTINGS_TEXT_SIZE];
    asked.bn_momentum = settings_relevant(&asked, SETTING_bn_momentum) ? t->job.momenta[unit] : asked.bn_momentum;
    applied_read(t->trajectory, unit, &asked, &applied);
    enum status status = applied_check(&asked, &applied);
    if (status)
        return status;
    settings_text_write(&applied, text);
    if (strlen(text) >= sizeof record.applied)
        return status_fail(STATUS_INTERNAL, "the applied settings take %zu bytes, a record holds %zu", strlen(text), sizeof record.applied);
    memcpy(record.applied, text, strlen(text) + 1);
    record.weights_init = t->trajectory->weights_init;
    record.weights_final = trajectory_weights_hash(t->trajectory);
    record.statistics_final = trajectory_statistics_hash(t->trajectory, unit);
    return send_record(t, unit, &record);
}

/* Say how it ended; the state is of no more use once that is on disk. */
static enum status finish(struct training *t, enum record_outcome outcome)
{
    bool safe = false;
    enum status status = STATUS_OK;
    t->trajectory->seconds = t->seconds_before + clock_seconds() - t->started;
    for (size_t unit = 0; !status && unit < t->job.count; unit++)
        status = send_end(t, unit, outcome);
    if (!status)
        status = trainer_wait(&t->trainer, t->trainer.records, ACKNOWLEDGE_SECONDS, &safe);
    if (!status && safe)
        state_remove(t->job.state);
    return status ? status : trainer_finish(&t->trainer);
}

static enum status train(struct training *t)
{
    enum status status = set_up(t);
    t->started = t->saved = clock_seconds();
    while (!status && t->trajectory->step < t->trajectory->config.plan.steps) {
        if (trainer_stop_requested())
            return stop(t);
        status = trajectory_step(t->trajectory);
        if (!status)
            status = look_around(t);
    }
    if (status && status != STATUS_DIVERGED)
        return status;
    return finish(t, status == STATUS_DIVERGED ? RECORD_DIVERGED : RECORD_DONE);
}

static void release(struct training *t)
{
    trajectory_free(t->trajectory);
    files_free(&t->files);
    mem_free(t->values);
    pack_free(&t->pack);
    trainer_end(&t->trainer);
}

enum status cmd_train(int argc, char **argv)
{
    static struct training t;
    (void)argc;
    (void)argv;
    prctl(PR_SET_NAME, "bnsweep"); /* it was started as /proc/self/exe, and ps would say "exe" */
    enum status status = trainer_begin(&t.trainer);
    if (!status)
        status = job_unpack(t.trainer.job, t.trainer.job_size, &t.job);
    if (!status)
        status = train(&t);
    if (status && status != STATUS_INCOMPLETE) {
        char reason[1024];
        snprintf(reason, sizeof reason, "%s", status_message());
        if (trainer_fail(&t.trainer, reason))
            fprintf(stderr, "bnsweep: error: %s\n", reason);
    }
    release(&t);
    return status;
}

/* The training child: a job in, records out. Everything that can crash or run out of memory happens here, in a process of its own. */
#include "commands.h"
#include "outbox.h"
#include "origin/files.h"
#include "origin/kept.h"

#include "bnsweep/mpi/child.h"
#include "bnsweep/mpi/trainer.h"
#include "bnsweep/run/applied.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/run/job.h"
#include "bnsweep/run/keep.h"
#include "bnsweep/run/replay.h"
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
    struct trajectory_config config;
    struct trajectory *trajectory;
    struct outbox outbox;
    bool replaying; /* from `kept`, by `replay` */
    struct kept kept;
    struct replay replay;
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

static enum status create_trajectory(struct training *t)
{
    struct trajectory_sink sink = {&t->outbox, outbox_values};
    return trajectory_create(&t->trajectory, &t->config, &sink);
}

/* What could not be gone on from, or not be replayed, is trained; records sent already are sent again. */
static enum status start_anew(struct training *t)
{
    fprintf(stderr, "bnsweep: warning: training starts anew: %s\n", status_message());
    trajectory_free(t->trajectory);
    kept_close(&t->kept);
    t->replaying = false;
    return create_trajectory(t);
}

static enum status begin_replay(struct training *t)
{
    enum status status = kept_open(t->job.store, t->job.source, &t->kept);
    uint64_t steps = t->config.plan.steps;
    bool fits = t->kept.steps == steps || (t->kept.status == UNIT_DIVERGED && t->kept.steps < steps);
    if (!status && (!fits || !hash_equal(t->kept.weights_init, t->trajectory->weights_init)))
        status = status_fail(STATUS_MISMATCH, "unit %u of %s is of another trajectory", t->job.source, t->job.store);
    struct replay_source source = kept_source(&t->kept);
    if (!status)
        status = replay_begin(&t->replay, t->trajectory, &source);
    t->replaying = !status;
    return status;
}

/* Build the trajectory. It is replayed where the store has kept it, else it goes on from its saved state where there is one that fits. */
static enum status set_up(struct training *t)
{
    enum status status = identity_verify_files(&t->job.settings);
    if (!status)
        status = files_read(&t->job.settings, &t->files);
    if (status)
        return status;
    status = outbox_create(&t->outbox, &t->trainer, &t->job);
    if (!status)
        status = configure_trajectory(&t->job.settings, t->job.count, t->job.momenta, &t->files.view, &t->config);
    if (!status)
        status = create_trajectory(t);
    if (!status && t->job.replay && begin_replay(t))
        status = start_anew(t);
    if (!status && !t->replaying && access(t->job.state, F_OK) == 0 && resume(t))
        status = start_anew(t);
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
static enum status prepare_state(struct training *t)
{
    enum status status = outbox_flush(&t->outbox);
    if (status)
        return status;
    t->saved = clock_seconds();
    t->prepared_after = t->trainer.records;
    t->prepared = !state_prepare(t->trajectory, t->job.state, t->job.key);
    if (!t->prepared)
        fprintf(stderr, "bnsweep: warning: %s\n", status_message());
    return STATUS_OK;
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
    if (!status && !t->prepared && !t->replaying && now - t->saved >= t->job.state_every)
        status = prepare_state(t);
    return status;
}

/* A replay is short, and begins again. */
static enum status stop(struct training *t)
{
    enum status status = t->replaying ? STATUS_OK : prepare_state(t);
    if (!status)
        status = publish_state(t, ACKNOWLEDGE_SECONDS);
    if (!status && t->prepared)
        return status_fail(STATUS_IO, "not all records are on disk; the state of step %llu is not saved",
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
    record.weights_final = t->replaying ? t->kept.weights : trajectory_weights_hash(t->trajectory);
    record.statistics_final = trajectory_statistics_hash(t->trajectory, unit);
    return outbox_record(&t->outbox, unit, &record);
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

static bool is_over(const struct training *t)
{
    return t->trajectory->step >= (t->replaying ? t->kept.steps : t->config.plan.steps);
}

/* The last stored weights, where the last step is a check, must be those the unit ended with. */
static enum status replay_one(struct training *t)
{
    enum status status = replay_step(&t->replay);
    if (!status && is_over(t) && plan_is_check(&t->config.plan, t->trajectory->step, NULL) &&
        !hash_equal(trajectory_weights_hash(t->trajectory), t->kept.weights))
        status = status_fail(STATUS_MISMATCH, "the last weights stored for unit %u are not those it ended with", t->job.source);
    return status ? start_anew(t) : STATUS_OK;
}

static enum status train(struct training *t)
{
    enum status status = set_up(t);
    t->started = t->saved = clock_seconds();
    while (!status && !is_over(t)) {
        if (trainer_stop_requested())
            return stop(t);
        status = t->replaying ? replay_one(t) : trajectory_step(t->trajectory);
        if (!status)
            status = look_around(t);
    }
    if (status && status != STATUS_DIVERGED)
        return status;
    bool diverged = status == STATUS_DIVERGED || (t->replaying && t->kept.status == UNIT_DIVERGED);
    return finish(t, diverged ? RECORD_DIVERGED : RECORD_DONE);
}

static void release(struct training *t)
{
    trajectory_free(t->trajectory);
    files_free(&t->files);
    kept_close(&t->kept);
    outbox_free(&t->outbox);
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

/* bnsweep run: rank 0 opens the store, hands out what it has not, and writes what comes back; the other ranks train. */
#include "commands.h"
#include "launch.h"
#include "leftovers.h"
#include "progress.h"
#include "origin/provenance.h"
#include "plan/outlook.h"
#include "plan/preflight.h"
#include "plan/recorded.h"
#include "plan/sheet.h"
#include "plan/sources.h"
#include "plan/worklist.h"
#include "read/table.h"
#include "text/options.h"

#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/core/engine.h"
#include "bnsweep/mpi/session.h"
#include "bnsweep/mpi/signals.h"
#include "bnsweep/run/job.h"
#include "bnsweep/store/writer.h"
#include "bnsweep/sweep/grouping.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 1024 };

struct run {
    /* the command line */
    const char *store;
    struct option_sets sets;
    long jobs;
    bool retry_failed, no_fuse, dry, left;
    double deadline, state_every;
    /* rank 0's */
    struct sweep sweep;
    struct sheet sheet;
    struct writer *writer;
    struct writer_unit *units;               /* [sweep.unit_count] where each stands */
    struct grouping grouping;                /* of what is to be trained */
    struct sources sources;                  /* what of it is replayed instead */
    struct manager_trajectory *trajectories; /* [grouping.count] */
    uint32_t *rows;                          /* [units to be trained], as the groups have them */
    struct recorded recorded;                /* what came in of them */
    char states[JOB_PATH_SIZE];              /* folder of the saved states */
    struct progress progress;
};

static enum status load(struct run *run, const char *path)
{
    enum status status = sweep_load(path, run->sets.text, run->sets.count, &run->sweep);
    if (!status)
        status = preflight_check(&run->sweep);
    return status ? status : sheet_create(&run->sheet, &run->sweep);
}

static enum status open_store(struct run *run)
{
    char path[JOB_PATH_SIZE];
    size_t count = run->sweep.unit_count;
    if (snprintf(path, sizeof path, "%s%s", run->store ? run->store : run->sweep.name, run->store ? "" : ".h5") >= (int)sizeof path)
        return status_fail(STATUS_INPUT, "the store's path is too long");
    run->units = mem_array(count, sizeof *run->units);
    if (!run->units)
        return STATUS_NOMEM;
    enum status status = writer_open(path, &run->sheet.layout, &run->sheet.units, run->units, &run->writer);
    if (status)
        return status;
    if (snprintf(run->states, sizeof run->states, "%s.state", writer_path(run->writer)) >= (int)sizeof run->states)
        return status_fail(STATUS_INPUT, "the store's path is too long");
    struct stat info;
    if (mkdir(run->states, 0777) && errno != EEXIST)
        return status_fail(STATUS_IO, "could not make the folder '%s': %s", run->states, strerror(errno));
    if (stat(run->states, &info) || !S_ISDIR(info.st_mode))
        return status_fail(STATUS_INPUT, "'%s' is no folder, but states are to be saved there: move it away", run->states);
    return STATUS_OK;
}

/* Group what is to be trained, and describe it to the manager. */
static enum status choose(struct run *run)
{
    struct grouping *grouping = &run->grouping;
    enum status status = worklist_make(&run->sweep, run->units, run->retry_failed, !run->no_fuse, grouping);
    if (status)
        return status;
    run->trajectories = mem_array(grouping->count, sizeof *run->trajectories);
    run->rows = mem_array(grouping->starts[grouping->count], sizeof *run->rows);
    if (!run->trajectories || !run->rows)
        return STATUS_NOMEM;
    for (size_t t = 0; t < grouping->count; t++) {
        size_t first = grouping->starts[t], units = grouping->starts[t + 1] - first;
        uint32_t attempts = 0;
        for (size_t i = first; i < first + units; i++) {
            const struct writer_unit *unit = &run->units[grouping->units[i]];
            attempts = unit->attempts > attempts ? unit->attempts : attempts;
            run->rows[i] = (uint32_t)unit->row;
        }
        run->trajectories[t] = (struct manager_trajectory){grouping->work[t], (uint32_t)first, (uint32_t)units, attempts};
    }
    size_t last = 0;
    for (size_t i = 0; i < grouping->starts[grouping->count]; i++)
        last = run->rows[i] > last ? run->rows[i] : last;
    status = recorded_create(&run->recorded, last + 1, &run->sheet.layout.extent);
    if (status || run->no_fuse) /* then each unit is to be trained for itself */
        return status;
    return sources_find(writer_path(run->writer), &run->sweep, grouping, &run->sources);
}

static enum status prepare(struct run *run, const char *path)
{
    enum status status = load(run, path);
    if (!status)
        status = open_store(run);
    return status ? status : choose(run);
}

static enum status give_job(void *context, uint32_t trajectory, uint32_t attempt, struct pack *pack)
{
    struct run *run = context;
    struct job job = {.state_every = run->state_every, .parameters = run->sheet.layout.extent.parameters};
    (void)attempt;
    enum status status = worklist_job(&run->sweep, run->units, &run->grouping, trajectory, run->states, &job);
    if (!status && run->sources.rows && run->sources.rows[trajectory] != UINT64_MAX) {
        job.replay = true;
        job.source = (uint32_t)run->sources.rows[trajectory];
        snprintf(job.store, sizeof job.store, "%s", writer_path(run->writer));
    }
    if (!status && access(job.state, F_OK) == 0 && recorded_fill(&run->recorded, writer_path(run->writer), &job))
        log_write(LOG_WARNING, "a saved state is not used: %s", status_message());
    return status ? status : job_pack(&job, pack);
}

static enum status take_record(void *context, uint32_t row, uint32_t attempt, uint32_t number, const void *bytes, size_t size)
{
    struct run *run = context;
    recorded_note(&run->recorded, row, bytes, size);
    return writer_record(run->writer, row, attempt, number, bytes, size);
}

static enum status take_unit(void *context, const struct session_unit *unit)
{
    static const enum unit_status states[] = {
        [MANAGER_UNIT_PENDING] = UNIT_PENDING, [MANAGER_UNIT_RUNNING] = UNIT_RUNNING, [MANAGER_UNIT_FAILED] = UNIT_FAILED};
    struct run *run = context;
    if (unit->state == MANAGER_UNIT_FAILED)
        log_write(LOG_WARNING, "unit %u failed: %s", unit->row, unit->reason);
    return writer_status(run->writer, unit->row, states[unit->state], unit->attempt, unit->host, unit->rank, unit->time, unit->reason);
}

static enum status commit(void *context)
{
    return writer_commit(((struct run *)context)->writer);
}

static enum status tick(void *context, double now, const struct manager_progress *at)
{
    struct run *run = context;
    bool finished;
    progress_show(&run->progress, now, at);
    if (writer_publish_poll(run->writer, &finished))
        log_write(LOG_WARNING, "%s (nothing is lost; it will be tried again)", status_message());
    if (!writer_publish_due(run->writer))
        return STATUS_OK;
    char store[JOB_PATH_SIZE], name[] = "bnsweep", command[] = "publish";
    snprintf(store, sizeof store, "%s", writer_path(run->writer));
    char *const arguments[] = {name, command, store, NULL};
    return writer_publish_start(run->writer, arguments);
}

/* End the store's part, keep the first error. */
static enum status close_store(struct run *run, enum status status)
{
    char message[1024], store[JOB_PATH_SIZE] = "";
    snprintf(message, sizeof message, "%s", status_message());
    if (!run->writer)
        return status;
    snprintf(store, sizeof store, "%s", writer_path(run->writer));
    if (status == STATUS_OK)
        leftovers_remove(store, run->states);
    enum status closed = writer_close(run->writer);
    run->writer = NULL;
    rmdir(run->states); /* stays where states of stopped units are in it */
    bool worth_a_table = !closed && (status == STATUS_OK || status == STATUS_INCOMPLETE || status == STATUS_FAILED);
    if (worth_a_table && table_print(store, stdout, TABLE_PLAIN))
        log_write(LOG_WARNING, "no table: %s", status_message());
    if (worth_a_table)
        printf("The store is %s\n", store);
    if (status || closed == STATUS_OK)
        return status ? status_fail(status, "%s", message) : STATUS_OK;
    return closed;
}

/* Units that failed in an earlier run, are asked for, and are left alone: the sweep is not complete. */
static enum status check_failed(const struct run *run)
{
    size_t failed = 0;
    for (size_t i = 0; i < run->sweep.unit_count; i++)
        failed += run->units[i].status == UNIT_FAILED && !run->retry_failed;
    if (!failed)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "%zu unit%s failed in an earlier run; --retry-failed trains them again", failed,
                       failed > 1 ? "s" : "");
}

/* Of a short time not all may go to stopping in good order: the margins are at most these parts of what is left. */
static void fit_margins(double deadline, struct session_limits *limits)
{
    static const double START_SHARE = 0.15, STOP_SHARE = 0.1;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double left = fmax(0, deadline - (double)now.tv_sec);
    limits->start_margin = fmin(limits->start_margin, START_SHARE * left);
    limits->stop_margin = fmin(limits->stop_margin, STOP_SHARE * left);
}

static enum status manage(struct run *run, struct comm *comm, const struct session_config *base)
{
    struct session_config config = *base;
    struct session_callbacks callbacks = {run, give_job, take_record, take_unit, commit, tick};
    config.trajectories = run->trajectories;
    config.trajectory_count = (uint32_t)run->grouping.count;
    config.rows = run->rows;
    config.unit_count = (uint32_t)(run->grouping.count ? run->grouping.starts[run->grouping.count] : 0);
    config.deadline = run->deadline;
    if (run->deadline > 0)
        fit_margins(run->deadline, &config.limits);
    if (config.unit_count)
        log_write(LOG_INFO, "%u of %zu units to train in %u trajectories, on %d worker%s; store: %s", config.unit_count,
                  run->sweep.unit_count, config.trajectory_count, comm_size(comm) > 1 ? comm_size(comm) - 1 : 1,
                  comm_size(comm) > 2 ? "s" : "", writer_path(run->writer));
    else
        log_write(LOG_INFO, "nothing to do: all %zu units are in %s", run->sweep.unit_count, writer_path(run->writer));
    if (run->sources.found)
        log_write(LOG_INFO, "%zu of the trajectories %s replayed from stored batch statistics, not trained", run->sources.found,
                  run->sources.found > 1 ? "are" : "is");
    if (run->sources.refusal[0])
        log_write(LOG_INFO, "stored batch statistics are not used: %s", run->sources.refusal);
    progress_begin(&run->progress);
    enum status status = session_run(comm, &config, &callbacks);
    progress_end(&run->progress);
    return close_store(run, status ? status : check_failed(run));
}

static void release(struct run *run)
{
    sheet_free(&run->sheet);
    sweep_free(&run->sweep);
    grouping_free(&run->grouping);
    sources_free(&run->sources);
    mem_free(run->units);
    mem_free(run->trajectories);
    mem_free(run->rows);
    recorded_free(&run->recorded);
}

/* All ranks, after the command line. */
static enum status run_ranks(struct run *run, const char *path, struct comm *comm)
{
    char name[] = "bnsweep", command[] = "train";
    char *const arguments[] = {name, command, NULL};
    struct session_config config = {.arguments = arguments, .identity = provenance_identity(), .limits = session_default_limits()};
    bool manager = comm_rank(comm) == 0;
    enum status status = manager ? prepare(run, path) : STATUS_OK;
    enum status agreed = comm_agree(comm, status);
    if (agreed)
        return manager ? close_store(run, agreed) : STATUS_OK; /* rank 0 has said it and decides the exit status */
    return manager ? manage(run, comm, &config) : session_run(comm, &config, NULL);
}

/* When Slurm ends the job, where it says so (SLURM_JOB_END_TIME, seconds since 1970); else 0, no deadline. */
static double slurm_deadline(void)
{
    const char *text = getenv("SLURM_JOB_END_TIME");
    double time = text ? strtod(text, NULL) : 0;
    return time > 0 ? time : 0;
}

enum status cmd_run(int argc, char **argv)
{
    struct run run = {.state_every = 60, .deadline = slurm_deadline()};
    const struct option_row rows[] = {
        {"-n", OPTION_FLAG, &run.dry, NULL, "only say what would be done, as `bnsweep plan` does; touch nothing"},
        {"--dry-run", OPTION_FLAG, &run.dry, NULL, "the same"},
        {"--left", OPTION_FLAG, &run.left, NULL, "only say what is left to train, and end with 0: nothing, 1: but units failed, 75: some"},
        {"-o", OPTION_TEXT, &run.store, "STORE", "the HDF5 file (default: the sweep's name with .h5, here)"},
        {"-j", OPTION_COUNT, &run.jobs, "N", "start mpirun with N workers"},
        {"--set", OPTION_SETS, &run.sets, "KEY=VALUE", "override a setting; may be repeated"},
        {"--retry-failed", OPTION_FLAG, &run.retry_failed, NULL, "train units again that have failed"},
        {"--no-fuse", OPTION_FLAG, &run.no_fuse, NULL, "train units apart that differ in BN momentum alone"},
        {"--deadline", OPTION_SECONDS, &run.deadline, "TIME", "stop, with saved states, before this time (seconds since 1970; default: Slurm's end)"},
        {"--state-every", OPTION_SECONDS, &run.state_every, "SECONDS", "between two saved states of a unit (default 60)"},
    };
    struct options options = {
        .command = "run", .operands = "FILE.ini", .operands_min = 1, .operands_max = 1,
        .about = "Train what the sweep file asks for and the store has not yet; all measurements go into the store.\n"
                 "Alone it trains in one worker; with -j N, or under mpirun or srun, rank 0 manages and the others train.\n"
                 "Stopped by a signal, or killed, it goes on where it was when it is run again.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    if (run.dry || run.left)
        return outlook_print(&(struct outlook_request){options.operand[0], run.store, run.sets.text, run.sets.count,
                                 run.jobs ? (size_t)run.jobs : 1, run.retry_failed && !run.left, run.no_fuse,
                                 run.left ? OUTLOOK_LEFT : OUTLOOK_TEXT});
    if (run.jobs > MOST_JOBS)
        return status_fail(STATUS_INPUT, "run: -j is %ld; at most %d workers are started on one machine", run.jobs, MOST_JOBS);
    if (run.jobs > 1)
        return launch_mpirun(run.jobs, argc, argv);
    signals_begin(); /* from here on they stop the run in good order */
    struct comm *comm;
    const struct engine *engine;
    status = engine_choose(&engine); /* each training process will choose again: let it be possible */
    if (!status)
        status = comm_check_launch();
    if (!status)
        status = comm_init(&comm);
    if (status)
        return status;
    status = run_ranks(&run, options.operand[0], comm);
    char message[2048];
    snprintf(message, sizeof message, "%s", status_message());
    release(&run);
    comm_finalize(comm, status_exit_code(status));
    return status ? status_fail(status, "%s", message) : STATUS_OK;
}

/* session_driver TRAINER JOBS SINK [LIMIT=VALUE ...]: a sweep of fake trainings.
 * JOBS holds a line a trajectory: "COUNT MODE UNTIL PAUSE RECORDS SIZE STATE" (fake_trainer.c), COUNT units in consecutive rows.
 * SINK is appended to, a line a record: "record ROW ATTEMPT NUMBER BYTES-HASH KIND", and a unit state: "unit ROW STATE REASON".
 * LIMIT is one of session_limits, or "seconds" until the deadline, or "full": records after which the disk is full, "stuck": seconds it
 * takes to say so, "other": the rank that pretends to be another program, or "bad": the rank on which every training process fails. */
#include "bnsweep/base/hash.h"
#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/mpi/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TRAJECTORIES = 20000, LINE_SIZE = 512 };

struct driver {
    FILE *sink;
    struct manager_trajectory *trajectories;
    uint32_t *rows;
    char (*jobs)[LINE_SIZE];
    uint32_t count, units;
    uint64_t records, full;
    double stuck;
};

static enum status job(void *context, uint32_t t, uint32_t attempt, struct pack *pack)
{
    struct driver *driver = context;
    char row[16];
    (void)attempt;
    pack_bytes(pack, driver->jobs[t], strlen(driver->jobs[t]));
    for (uint32_t i = 0; i < driver->trajectories[t].units; i++)
        pack_bytes(pack, row, (size_t)sprintf(row, " %u", driver->rows[driver->trajectories[t].first_unit + i]));
    return STATUS_OK;
}

static enum status record(void *context, uint32_t row, uint32_t attempt, uint32_t number, const void *bytes, size_t size)
{
    struct driver *driver = context;
    if (driver->full && ++driver->records > driver->full) {
        nanosleep(&(struct timespec){.tv_sec = (time_t)driver->stuck}, NULL);
        return status_fail(STATUS_IO, "the disk is full");
    }
    fprintf(driver->sink, "record %u %u %u %016llx %u\n", row, attempt, number, (unsigned long long)hash_checksum(bytes, size, 0),
            *(const unsigned char *)bytes);
    return STATUS_OK;
}

static enum status unit(void *context, const struct session_unit *said)
{
    static const char *const names[] = {
#define X(name, text) text,
        MANAGER_UNIT_STATES(X)
#undef X
    };
    struct driver *driver = context;
    fprintf(driver->sink, "unit %u %s %u %d %s\n", said->row, names[said->state], said->attempt, said->rank, said->reason);
    return STATUS_OK;
}

static enum status commit(void *context)
{
    struct driver *driver = context;
    return fflush(driver->sink) ? status_fail(STATUS_IO, "writing the sink") : STATUS_OK;
}

static enum status tick(void *context, double now, const struct manager_progress *progress)
{
    (void)context, (void)now;
    log_write(LOG_DEBUG, "%u of %u done, %u failed, %u running", progress->done, progress->trajectories, progress->failed,
              progress->running);
    return STATUS_OK;
}

static bool read_jobs(struct driver *driver, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LINE_SIZE];
    driver->trajectories = mem_array(MAX_TRAJECTORIES, sizeof *driver->trajectories);
    driver->jobs = mem_array(MAX_TRAJECTORIES, sizeof *driver->jobs);
    driver->rows = mem_array(MAX_TRAJECTORIES * 8, sizeof *driver->rows);
    while (file && driver->count < MAX_TRAJECTORIES && fgets(line, sizeof line, file)) {
        struct manager_trajectory *trajectory = &driver->trajectories[driver->count];
        int used = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%u %n", &trajectory->units, &used) != 1 || trajectory->units > 8)
            break;
        strcpy(driver->jobs[driver->count++], line + used);
        trajectory->first_unit = driver->units;
        trajectory->seconds = 1;
        for (uint32_t i = 0; i < trajectory->units; i++, driver->units++)
            driver->rows[driver->units] = driver->units;
    }
    if (file)
        fclose(file);
    return file && driver->count;
}

static bool set_limit(struct session_config *config, struct driver *driver, const struct comm *comm, const char *text)
{
    char name[32];
    double value;
    if (sscanf(text, "%31[a-z_]=%lf", name, &value) != 2)
        return false;
    if (!strcmp(name, "seconds"))
        config->deadline = (double)time(NULL) + value;
    else if (!strcmp(name, "full"))
        driver->full = (uint64_t)value;
    else if (!strcmp(name, "stuck"))
        driver->stuck = value;
    else if (!strcmp(name, "other"))
        config->identity = comm_rank(comm) == (int)value ? "another program" : config->identity;
    else if (!strcmp(name, "bad"))
        config->program = comm_rank(comm) == (int)value ? "/bin/false" : config->program;
#define X(type, limit, standard, help) \
    else if (!strcmp(name, #limit)) config->limits.limit = (type)value;
    SESSION_LIMITS(X)
#undef X
    else
        return false;
    return true;
}

static void print_cost(const struct driver *driver, double seconds)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    fprintf(stderr, "rank 0: %.2f s, %.3f s of CPU in all, %u units\n", seconds, cpu, driver->units);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct comm *comm;
    struct driver driver = {0};
    char *arguments[] = {(char[]){"fake_trainer"}, NULL};
    if (argc >= 4 && comm_check_launch()) {
        log_write(LOG_ERROR, "%s", status_message());
        return 2;
    }
    if (argc < 4 || comm_init(&comm))
        return 99;
    struct session_config config = {.program = argv[1], .arguments = arguments, .identity = "session_driver",
                                    .limits = session_default_limits()};
    enum status status = STATUS_OK;
    for (int i = 4; i < argc && !status; i++)
        if (!set_limit(&config, &driver, comm, argv[i]))
            status = status_fail(STATUS_INPUT, "bad limit %s", argv[i]);
    if (!status && comm_rank(comm) == 0) {
        driver.sink = fopen(argv[3], "a");
        if (!driver.sink || !read_jobs(&driver, argv[2]))
            status = status_fail(STATUS_INPUT, "cannot use %s and %s", argv[2], argv[3]);
    }
    config.trajectories = driver.trajectories;
    config.trajectory_count = driver.count;
    config.rows = driver.rows;
    config.unit_count = driver.units;
    struct session_callbacks callbacks = {&driver, job, record, unit, commit, tick};
    status = comm_agree(comm, status);
    double start = seconds_now();
    if (!status)
        status = session_run(comm, &config, &callbacks);
    if (status && comm_rank(comm) == 0)
        log_write(LOG_ERROR, "%s: %s", status_name(status), status_message());
    if (comm_rank(comm) == 0)
        print_cost(&driver, seconds_now() - start);
    if (driver.sink)
        fclose(driver.sink);
    mem_free(driver.trajectories);
    mem_free(driver.jobs);
    mem_free(driver.rows);
    comm_finalize(comm, status_exit_code(status));
    return status_exit_code(status);
}

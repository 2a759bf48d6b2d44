/* bnsweep jobscript: a Slurm script for a sweep, with the numbers it needs. */
#include "commands.h"
#include "plan/demand.h"
#include "plan/jobscript.h"
#include "text/limit.h"
#include "text/moment.h"
#include "text/options.h"

#include "bnsweep/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NODES = 100000, MOST_CORES = 4096, SPARE_REQUEUES = 10, SHORTEST_LEAD = 150 };

struct request {
    struct outlook_request sweep;
    struct option_sets sets, extra; /* extra: lines for sbatch */
    const char *script, *time, *launcher;
    long nodes, cores;
    double lead;
};

/* The texts that are filled in; [JOBSCRIPT_LINE_COUNT] owned, of open_memstream. */
struct filling {
    char *text[JOBSCRIPT_LINE_COUNT];
};

static enum status check_extra(const struct option_sets *extra)
{
    for (size_t i = 0; i < extra->count; i++)
        if (strncmp(extra->text[i], "--", 2) != 0 || strchr(extra->text[i], '\n'))
            return status_fail(STATUS_INPUT, "jobscript: --sbatch is '%s'; one line is needed that begins with --, for instance "
                               "--sbatch=--partition=long", extra->text[i]);
    return STATUS_OK;
}

static enum status check(const struct request *r, struct demand *demand)
{
    if (r->nodes > MOST_NODES || r->cores > MOST_CORES)
        return status_fail(STATUS_INPUT, "jobscript: %ld nodes of %ld cores; at most %d of %d are possible", r->nodes, r->cores, MOST_NODES,
                           MOST_CORES);
    *demand = (struct demand){.nodes = (size_t)r->nodes, .cores = (size_t)r->cores, .lead = r->lead};
    if (r->time && !limit_parse(r->time, &demand->limit))
        return status_fail(STATUS_INPUT, "jobscript: --time is '%s'; a time limit as for sbatch is needed: 90 (minutes), 1:30:00, 1-12:00:00",
                           r->time);
    if (r->lead > 0 && r->lead < SHORTEST_LEAD)
        return status_fail(STATUS_INPUT, "jobscript: --lead is %g; at least %d s are needed to save the states and to queue again", r->lead,
                           SHORTEST_LEAD);
    if (strcmp(r->launcher, "mpirun") != 0 && strcmp(r->launcher, "srun") != 0)
        return status_fail(STATUS_INPUT, "jobscript: --launcher is '%s'; mpirun and srun are possible", r->launcher);
    return check_extra(&r->extra);
}

/* "about 3:05 min, up to 7:00 min if every check fails". */
static void say_time(FILE *out, double seconds, double most)
{
    char text[MOMENT_SIZE];
    moment_span(seconds, text);
    fprintf(out, "about %s", text);
    moment_span(most, text);
    if (most > seconds)
        fprintf(out, ", up to %s if every check fails", text);
}

static void say_jobs(FILE *out, const struct demand *d)
{
    char limit[LIMIT_SIZE];
    limit_format(d->limit, limit);
    if (d->jobs_most <= 1)
        fprintf(out, "it fits into one job of %s", limit);
    else if (d->jobs <= 1)
        fprintf(out, "it fits into one job of %s, or the job queues itself again up to %.0f times", limit, d->jobs_most - 1);
    else
        fprintf(out, "in jobs of %s it queues itself again about %.0f times", limit, d->jobs - 1);
    if (d->jobs > 1 && d->jobs_most > d->jobs)
        fprintf(out, ", up to %.0f", d->jobs_most - 1);
}

/* What there is to know, each line behind `before`. */
static void summarise(FILE *out, const char *before, const struct outlook *o, const struct demand *d)
{
    char host[256] = "this machine";
    size_t workers = d->nodes * d->cores;
    gethostname(host, sizeof host - 1);
    fprintf(out, "%s%s: %zu of %zu units to train in %zu trajectories, on %zu worker%s (%zu node%s, %zu a node)\n", before, o->sweep.name,
            o->to_train, o->sweep.unit_count, o->grouping.count, workers, workers == 1 ? "" : "s", d->nodes, d->nodes == 1 ? "" : "s", d->cores);
    if (!o->to_train) {
        fprintf(out, "%snothing is left to do\n", before);
        return;
    }
    fprintf(out, "%stime: ", before);
    say_time(out, d->seconds, d->seconds_most);
    fprintf(out, ", from a measurement on %s; ", host);
    say_jobs(out, d);
    fprintf(out, "\n%smemory: %.0f MB a core; the states are saved %.0f s before the time limit\n", before, (double)d->memory / 1e6, d->lead);
    if (workers > o->grouping.count)
        fprintf(out, "%sonly %zu trajectories: %zu of the workers will have nothing to do\n", before, o->grouping.count,
                workers - o->grouping.count);
}

static void put_usage(FILE *out, const struct request *r, const struct outlook *o, const struct demand *d)
{
    fprintf(out, "#   sbatch %s\n", r->script ? r->script : "THIS_FILE");
    summarise(out, "# ", o, d);
    fprintf(out, "#");
}

/* A name without anything that sbatch would have to be told how to read. */
static void put_name(FILE *out, const char *name)
{
    fprintf(out, "#SBATCH --job-name=");
    for (; *name; name++)
        putc(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *name) ? *name : '_', out);
}

static void put_arguments(FILE *out, const struct request *r, const char *file, const char *store)
{
    fprintf(out, "arguments=(");
    jobscript_quote(out, file);
    fprintf(out, " -o ");
    jobscript_quote(out, store);
    for (size_t i = 0; i < r->sets.count; i++) {
        fprintf(out, " --set ");
        jobscript_quote(out, r->sets.text[i]);
    }
    fprintf(out, "%s \"$@\")", r->sweep.no_fuse ? " --no-fuse" : "");
}

static enum status put_program(FILE *out)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return status_fail(STATUS_IO, "could not find this program's path: %s", strerror(errno));
    program[length] = 0;
    fprintf(out, "program=");
    jobscript_quote(out, program);
    return STATUS_OK;
}

static enum status put_line(FILE *out, enum jobscript_line line, const struct request *r, const struct outlook *o, const struct demand *d)
{
    char text[LIMIT_SIZE], file[PATH_MAX];
    switch (line) {
    case JOBSCRIPT_USAGE: put_usage(out, r, o, d); break;
    case JOBSCRIPT_NAME: put_name(out, o->sweep.name); break;
    case JOBSCRIPT_NODES: fprintf(out, "#SBATCH --nodes=%zu", d->nodes); break;
    case JOBSCRIPT_TASKS: fprintf(out, "#SBATCH --ntasks-per-node=%zu", d->cores); break;
    case JOBSCRIPT_MEMORY: fprintf(out, "#SBATCH --mem-per-cpu=%.0fM", ceil((double)d->memory / (1 << 20))); break;
    case JOBSCRIPT_TIME:
        limit_format(ceil(d->limit / 60) * 60, text); /* sbatch rounds up to minutes, too */
        fprintf(out, "#SBATCH --time=%s", text);
        break;
    case JOBSCRIPT_SIGNAL: fprintf(out, "#SBATCH --signal=B:USR1@%.0f", ceil(d->lead)); break;
    case JOBSCRIPT_NO_KILL:
        fprintf(out, "#SBATCH --no-kill");
        for (size_t i = 0; i < r->extra.count; i++)
            fprintf(out, "\n#SBATCH %s", r->extra.text[i]);
        break;
    case JOBSCRIPT_PROGRAM: return put_program(out);
    case JOBSCRIPT_ARGUMENTS:
        if (!realpath(r->sweep.file, file))
            return status_fail(STATUS_IO, "%s: %s", r->sweep.file, strerror(errno));
        put_arguments(out, r, file, o->preview.path);
        break;
    case JOBSCRIPT_LAUNCHER: fprintf(out, "launcher=${BNSWEEP_LAUNCHER:-%s}", r->launcher); break;
    case JOBSCRIPT_REQUEUES: fprintf(out, "requeues=%.0f # twice what is expected, and some", 2 * d->jobs_most + SPARE_REQUEUES); break;
    case JOBSCRIPT_GRACE:
        fprintf(out, "grace=%.0f # seconds from the stop signal until what still runs is ended by force", ceil(d->lead) - 60);
        break;
    case JOBSCRIPT_LINE_COUNT: break;
    }
    return STATUS_OK;
}

static enum status fill(const struct request *r, const struct outlook *o, const struct demand *d, struct filling *filling)
{
    enum status status = STATUS_OK;
    for (int line = 0; !status && line < JOBSCRIPT_LINE_COUNT; line++) {
        size_t size;
        FILE *out = open_memstream(&filling->text[line], &size);
        if (!out)
            return status_fail(STATUS_NOMEM, "%s", status_text(STATUS_NOMEM));
        status = put_line(out, (enum jobscript_line)line, r, o, d);
        if (fclose(out))
            return status_fail(STATUS_NOMEM, "%s", status_text(STATUS_NOMEM));
    }
    return status;
}

/* A file that is there may have been edited: it stays. */
static enum status write_file(const char *path, const char *const lines[JOBSCRIPT_LINE_COUNT])
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
    if (fd < 0)
        return errno == EEXIST ? status_fail(STATUS_INPUT, "%s is there already: remove it, or write to another file", path)
                               : status_fail(STATUS_INPUT, "could not make the script %s: %s", path, strerror(errno));
    FILE *out = fdopen(fd, "w");
    enum status status = out ? jobscript_write(out, lines) : status_fail(STATUS_NOMEM, "%s", status_text(STATUS_NOMEM));
    if (out && (ferror(out) | fclose(out)) && !status)
        status = status_fail(STATUS_IO, "could not write the script %s: %s", path, strerror(errno));
    if (status)
        unlink(path);
    return status;
}

static enum status make(const struct request *r, const struct outlook *o, struct demand *d)
{
    struct filling filling = {0};
    if (o->refused)
        return status_fail(o->refused, "%s", o->refusal);
    enum status status = demand_find(o, d);
    if (!status)
        status = fill(r, o, d, &filling);
    const char *const *lines = (const char *const *)filling.text;
    if (!status)
        status = r->script ? write_file(r->script, lines) : jobscript_write(stdout, lines);
    if (!status)
        summarise(stderr, "", o, d);
    for (int line = 0; line < JOBSCRIPT_LINE_COUNT; line++)
        free(filling.text[line]);
    return status;
}

enum status cmd_jobscript(int argc, char **argv)
{
    struct request r = {.nodes = 1, .cores = sysconf(_SC_NPROCESSORS_ONLN), .launcher = "mpirun"};
    const struct option_row rows[] = {
        {"-o", OPTION_TEXT, &r.script, "FILE", "write the script there (default: standard output)"},
        {"--store", OPTION_TEXT, &r.sweep.store, "STORE", "the HDF5 file (default: the sweep's name with .h5, here)"},
        {"--nodes", OPTION_COUNT, &r.nodes, "N", "(default 1)"},
        {"--cores", OPTION_COUNT, &r.cores, "N", "of a node, one worker on each (default: this machine's)"},
        {"--time", OPTION_TEXT, &r.time, "LIMIT", "as for sbatch: 90 (minutes), 2:00:00, 1-12:00:00 (default: what is needed, at most a day)"},
        {"--lead", OPTION_SECONDS, &r.lead, "SECONDS", "from the stop signal to the end of the job (default: from the store's size)"},
        {"--launcher", OPTION_TEXT, &r.launcher, "NAME", "mpirun (default), or srun, where Slurm has PMIx"},
        {"--sbatch", OPTION_SETS, &r.extra, "--OPTION", "one more line for sbatch, as in --sbatch=--partition=long; may be repeated"},
        {"--set", OPTION_SETS, &r.sets, "KEY=VALUE", "override a setting; may be repeated"},
        {"--no-fuse", OPTION_FLAG, &r.sweep.no_fuse, NULL, "train units apart that differ in BN momentum alone"},
    };
    struct options options = {
        .command = "jobscript", .operands = "FILE.ini", .operands_min = 1, .operands_max = 1,
        .about = "Write a Slurm job script that trains what the sweep file asks for and the store has not yet: a worker on each core, started\n"
                 "again after a lost rank or node, queued again at the time limit, until the store is complete. The expected time is measured\n"
                 "here; what was found is said on standard error and in the script. Submit it with sbatch.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    struct demand demand;
    struct outlook outlook = {0};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    r.sweep.file = options.operand[0];
    r.sweep.sets = r.sets.text;
    r.sweep.set_count = r.sets.count;
    status = check(&r, &demand);
    if (status)
        return status;
    r.sweep.workers = demand.nodes * demand.cores;
    status = outlook_create(&r.sweep, &outlook);
    if (!status)
        status = make(&r, &outlook, &demand);
    outlook_free(&outlook);
    return status;
}

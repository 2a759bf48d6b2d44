/* bnsweep status: how a sweep stands, also while it runs. */
#include "commands.h"
#include "read/standing.h"
#include "text/moment.h"
#include "text/options.h"
#include "text/tabulate.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WATCH_SECONDS = 2, MOST_LISTED = 20 };

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void add_number(struct tabulate *table, double value)
{
    if (isnan(value))
        tabulate_cell(table, "-");
    else
        tabulate_cell(table, "%.15g", value);
}

static void add_unit(struct tabulate *table, const struct standing_unit *named)
{
    tabulate_cell(table, "%llu", (unsigned long long)named->unit.row);
    tabulate_cell(table, "%s", named->unit.arm);
    add_number(table, named->bn_momentum);
    add_number(table, named->seed);
}

/* "running now:" and a table of it, or nothing. */
static enum status print_running(const struct standing *at)
{
    static const struct tabulate_column columns[] = {{"unit", true},      {"arm", false},    {"bn_momentum", true},
                                                     {"seed", true},      {"host", false},   {"rank", true},
                                                     {"attempt", true},   {"checks", true},  {"for", true}};
    struct tabulate table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    char span[MOMENT_SIZE];
    if (!at->in_state[UNIT_RUNNING])
        return STATUS_OK;
    for (size_t i = 0; i < at->named_count; i++) {
        const struct reader_unit *unit = &at->named[i].unit;
        if (unit->status != UNIT_RUNNING)
            continue;
        moment_span(now() - unit->started, span);
        add_unit(&table, &at->named[i]);
        tabulate_cell(&table, "%s", unit->host);
        tabulate_cell(&table, "%d", unit->rank);
        tabulate_cell(&table, "%u", unit->attempts);
        tabulate_cell(&table, "%u of %llu", unit->checks, (unsigned long long)at->checks);
        tabulate_cell(&table, "%s", span);
    }
    printf("\n%s:\n", at->writer.state == LOCK_FREE ? "running when the last writer ended; the next run goes on with them" : "running now");
    enum status status = tabulate_print(&table, stdout, TABULATE_PLAIN);
    tabulate_free(&table);
    return status;
}

static enum status print_ended_badly(const struct standing *at, enum unit_status state)
{
    static const struct tabulate_column columns[] = {{"unit", true},   {"arm", false},    {"bn_momentum", true}, {"seed", true},
                                                     {"host", false},  {"attempts", true}, {"checks", true},      {"reason", false}};
    struct tabulate table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    size_t listed = 0;
    if (!at->in_state[state])
        return STATUS_OK;
    for (size_t i = 0; i < at->named_count && listed < MOST_LISTED; i++) {
        const struct reader_unit *unit = &at->named[i].unit;
        if (unit->status != state)
            continue;
        listed++;
        add_unit(&table, &at->named[i]);
        tabulate_cell(&table, "%s", unit->host);
        tabulate_cell(&table, "%u", unit->attempts);
        tabulate_cell(&table, "%u of %llu", unit->checks, (unsigned long long)at->checks);
        tabulate_cell(&table, "%s", unit->reason);
    }
    printf("\n%s:\n", layout_status_name(state));
    enum status status = tabulate_print(&table, stdout, TABULATE_PLAIN);
    if (listed < at->in_state[state])
        printf("... and %llu more (--json lists all)\n", (unsigned long long)at->in_state[state] - listed);
    tabulate_free(&table);
    return status;
}

static const char *state_of_writer(enum lock_state state)
{
    return state == LOCK_HELD ? "active" : state == LOCK_FREE ? "none" : "cannot be seen from this machine";
}

static void print_journal(const struct reader_journal *journal)
{
    printf("journal: ");
    if (journal->health)
        printf("DAMAGED: %s\n", journal->message);
    else if (!journal->exists)
        printf("none\n");
    else
        printf("%llu entries beyond the store%s\n", (unsigned long long)journal->waiting,
               journal->torn_bytes ? ", and a commit that is being written or was cut off" : "");
}

static enum status print_text(const char *path, const struct standing *at)
{
    printf("%s: %llu units\n", path, (unsigned long long)at->units);
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        printf("  %-9s %llu\n", layout_status_name(state), (unsigned long long)at->in_state[state]);
    printf("attempts: %llu", (unsigned long long)at->attempts);
    if (at->restarted)
        printf(" (%llu units were started more than once)", (unsigned long long)at->restarted);
    printf("\nwriter: %s", state_of_writer(at->writer.state));
    if (*at->writer.text)
        printf(" (%s%s)", at->writer.state == LOCK_HELD ? "" : "the last: ", at->writer.text);
    printf("\n");
    print_journal(&at->journal);
    enum status status = print_running(at);
    if (!status)
        status = print_ended_badly(at, UNIT_FAILED);
    return status ? status : print_ended_badly(at, UNIT_DIVERGED);
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *json_unit(const struct standing_unit *named)
{
    const struct reader_unit *unit = &named->unit;
    json_t *out = json_object();
    json_object_set_new(out, "unit", integer(unit->row));
    json_object_set_new(out, "status", json_string(layout_status_name(unit->status)));
    json_object_set_new(out, "arm", json_string(unit->arm));
    json_object_set_new(out, "bn_momentum", number(named->bn_momentum));
    json_object_set_new(out, "seed", isnan(named->seed) ? json_null() : json_integer((json_int_t)named->seed));
    json_object_set_new(out, "host", json_string(unit->host));
    json_object_set_new(out, "rank", json_integer(unit->rank));
    json_object_set_new(out, "attempts", integer(unit->attempts));
    json_object_set_new(out, "started", number(unit->started));
    json_object_set_new(out, "seconds", number(unit->seconds));
    json_object_set_new(out, "checks", integer(unit->checks));
    json_object_set_new(out, "reason", json_string(unit->reason));
    return out;
}

static enum status print_json(const char *path, const struct standing *at, bool compact)
{
    static const char *const states[] = {[LOCK_FREE] = "none", [LOCK_HELD] = "active", [LOCK_UNKNOWN] = "unknown"};
    json_t *out = json_object(), *counts = json_object(), *journal = json_object(), *writer = json_object(), *named = json_array();
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        json_object_set_new(counts, layout_status_name(state), integer(at->in_state[state]));
    for (size_t i = 0; i < at->named_count; i++)
        json_array_append_new(named, json_unit(&at->named[i]));
    json_object_set_new(journal, "exists", json_boolean(at->journal.exists));
    json_object_set_new(journal, "problem", at->journal.health ? json_string(at->journal.message) : json_null());
    json_object_set_new(journal, "waiting", integer(at->journal.waiting));
    json_object_set_new(journal, "torn_bytes", integer(at->journal.torn_bytes));
    json_object_set_new(writer, "state", json_string(states[at->writer.state]));
    json_object_set_new(writer, "note", json_string(at->writer.text));
    json_object_set_new(out, "store", json_string(path));
    json_object_set_new(out, "units", integer(at->units));
    json_object_set_new(out, "checks", integer(at->checks));
    json_object_set_new(out, "counts", counts);
    json_object_set_new(out, "attempts", integer(at->attempts));
    json_object_set_new(out, "writer", writer);
    json_object_set_new(out, "journal", journal);
    json_object_set_new(out, "named", named);
    bool failed = json_dumpf(out, stdout, JSON_REAL_PRECISION(15) | (compact ? JSON_COMPACT : JSON_INDENT(2))) != 0;
    json_decref(out);
    printf("\n");
    return failed && !ferror(stdout) ? status_fail(STATUS_NOMEM, "%s", status_text(STATUS_NOMEM)) : STATUS_OK;
}

static enum status show_once(const char *path, bool json, bool watch, bool *unfinished)
{
    struct standing at = {0};
    enum status status = standing_read(path, &at);
    *unfinished = at.in_state[UNIT_PENDING] + at.in_state[UNIT_RUNNING] > 0;
    if (!status && watch && !json && isatty(STDOUT_FILENO))
        printf("\033[H\033[2J");
    if (!status)
        status = json ? print_json(path, &at, watch) : print_text(path, &at);
    standing_free(&at);
    return status;
}

enum status cmd_status(int argc, char **argv)
{
    bool json = false, watch = false, unfinished = true;
    const struct option_row rows[] = {
        {"--json", OPTION_FLAG, &json, NULL, "JSON; with --watch one line each time"},
        {"--watch", OPTION_FLAG, &watch, NULL, "again every 2 s, until nothing is pending or running"},
    };
    struct options options = {
        .command = "status", .operands = "STORE", .operands_min = 1, .operands_max = 1,
        .about = "Say how many units are pending, running, done, diverged and failed, what runs now and where, why units failed, what\n"
                 "the journal holds beyond the store, and whether a run is writing. Reads store and journal, and disturbs no run.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    while (!status && unfinished) {
        status = show_once(options.operand[0], json, watch, &unfinished);
        if (!watch || status || !unfinished || fflush(stdout))
            break;
        if (!json && !isatty(STDOUT_FILENO))
            printf("\n");
        sleep(WATCH_SECONDS);
    }
    return status;
}

/* bnsweep show: all that is known of one unit. */
#include "commands.h"
#include "read/history.h"
#include "read/select.h"
#include "read/verdict.h"
#include "text/moment.h"
#include "text/options.h"
#include "text/tabulate.h"

#include "bnsweep/store/reader_unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void print_unit(const struct frame *frame, const struct reader_unit *unit)
{
    char identity[HASH_HEX_SIZE], started[MOMENT_SIZE], spent[MOMENT_SIZE];
    hash_hex(unit->identity, identity);
    moment_utc(unit->started, started);
    moment_span(unit->seconds, spent);
    printf("unit %" PRIu64 " of %s\n", unit->row, frame->path);
    printf("  %-18s %s\n", "arm", unit->arm);
    printf("  %-18s %s", "status", layout_status_name(unit->status));
    if (unit->status != frame->status[unit->row])
        printf(" (%s in the published store: the measurements below are older)", layout_status_name(frame->status[unit->row]));
    printf("\n");
    if (*unit->reason)
        printf("  %-18s %s\n", "reason", unit->reason);
    printf("  %-18s %u of %zu\n", "checks", unit->checks, frame->extent->checks);
    printf("  %-18s %u, the last from %s on, rank %d of host %s\n", "attempts", unit->attempts, started, unit->rank,
           *unit->host ? unit->host : "-");
    printf("  %-18s %s\n", "time spent", spent);
    printf("  %-18s %s\n", "identity", identity);
    printf("  %-18s %s\n", "weights at step 0", *unit->weights_init ? unit->weights_init : "-");
    printf("  %-18s %s\n", "weights at the end", *unit->weights ? unit->weights : "-");
    printf("  %-18s %s\n", "statistics there", *unit->statistics ? unit->statistics : "-");
}

static void print_settings(const struct frame *frame, size_t row)
{
    bool ended = frame->status[row] == UNIT_DONE || frame->status[row] == UNIT_DIVERGED;
    int section = -1;
    printf("\nsettings, %s:\n", ended ? "as read back from the network and the optimizer" : "as asked for (not yet read back)");
    for (size_t i = 0; i < frame->setting_count; i++) {
        const struct frame_column *column = &frame->settings[i];
        const char *text = frame_text(column, row);
        int its = column->key >= 0 ? (int)settings_table[column->key].section : SETTINGS_SECTION_COUNT;
        if (!*text)
            continue;
        if (its != section)
            printf("  [%s]\n", its < SETTINGS_SECTION_COUNT ? settings_section_names[its] : "others");
        section = its;
        printf("  %-18s %s\n", column->label, text);
    }
}

static void add(struct tabulate *table, int digits, double factor, double value)
{
    if (isnan(value))
        tabulate_cell(table, "-");
    else
        tabulate_cell(table, "%.*f", digits, factor * value);
}

static void add_lag(struct tabulate *table, const struct frame *frame, const struct history_check *check)
{
    size_t layer = frame->extent->channels ? (size_t)frame->channel_layer[check->lag_channel] - 1 : 0;
    if (isnan(check->lag))
        tabulate_cell(table, "-");
    else
        tabulate_cell(table, "%+.3f  %s:%" PRId64, check->lag, layer < frame->extent->layers ? frame->layers[layer] : "?",
                      frame->channel_index[check->lag_channel]);
}

static enum status print_checks(const struct frame *frame, const struct history *history)
{
    static const struct tabulate_column columns[] = {
        {"step", true},      {"lr", true},           {"loss", true},   {"training %", true},      {"evaluation %", true},   {"gap", true},
        {"re-est. %", true}, {"rotation/100", true}, {"growth", true}, {"worst mean_lag", false}, {"worst var_ratio", true},
    };
    struct tabulate table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < history->count; i++) {
        const struct history_check *check = &history->checks[i];
        if (isnan(check->lr) && isnan(check->acc_eval))
            continue; /* not made */
        tabulate_cell(&table, "%" PRId64, check->step);
        tabulate_cell(&table, "%.4g", check->lr);
        tabulate_cell(&table, "%.4g", check->loss);
        add(&table, 1, 100, check->acc_train);
        add(&table, 1, 100, check->acc_eval);
        add(&table, 1, 100, check->acc_train - check->acc_eval);
        add(&table, 1, 100, check->reest);
        add(&table, 2, 1, check->rotation);
        add(&table, 2, 1, check->growth);
        add_lag(&table, frame, check);
        add(&table, 3, 1, check->var_ratio);
    }
    printf("\nchecks (accuracies in percent, rotation in degrees in 100 steps and growth of the last convolution's weights, the lag\n"
           "farthest from 0 in standard deviations with its channel, the variance ratio farthest from 1):\n");
    enum status status = tabulate_print(&table, stdout, TABULATE_PLAIN);
    tabulate_free(&table);
    return status;
}

static enum status show(const struct frame *frame, const char *text)
{
    size_t row = 0;
    struct reader_unit unit = {0};
    struct history history = {0};
    enum status status = select_unit(frame, text, &row);
    if (!status)
        status = reader_unit_list(frame->reader, row, 1, &unit);
    if (!status)
        status = history_read(frame, row, &history);
    if (!status) {
        print_unit(frame, &unit);
        print_settings(frame, row);
        status = print_checks(frame, &history);
    }
    if (!status) {
        printf("\n");
        verdict_print(frame, &history, stdout);
    }
    reader_unit_free(&unit, 1);
    history_free(&history);
    return status;
}

enum status cmd_show(int argc, char **argv)
{
    struct options options = {
        .command = "show", .operands = "STORE UNIT", .operands_min = 2, .operands_max = 2,
        .about = "Print all that is known of one unit: settings as applied, hashes, host and time, its checks, and whether its running\n"
                 "statistics went stale: where evaluation mode is at least 5 points below training mode and a running mean at least half\n"
                 "a standard deviation off.\n\n"
                 "UNIT is a row number, or what tells the unit from all others: an arm, key=value, or several of them joined by\n"
                 "commas, as in adam,bn_momentum=0.03,seed=1."};
    struct frame frame = {0};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    status = frame_open(options.operand[0], &frame);
    if (!status)
        status = show(&frame, options.operand[1]);
    frame_close(&frame);
    return status;
}

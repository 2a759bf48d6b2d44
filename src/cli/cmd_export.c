/* bnsweep export: a store as CSV files. */
#include "commands.h"
#include "read/tidy.h"
#include "text/options.h"

#include "bnsweep/base/log.h"

#include <inttypes.h>

static enum status export(const char *store, const char *path)
{
    struct reader *reader;
    struct folder folder;
    enum status status = reader_open(store, &reader);
    if (status)
        return status;
    if (reader_journal(reader)->waiting)
        log_write(LOG_WARNING, "%s: %" PRIu64 " journal entries are not published yet and not exported", store,
                  reader_journal(reader)->waiting);
    status = folder_begin(path, &folder);
    if (!status) {
        status = tidy_units(reader, &folder);
        if (!status)
            status = tidy_values(reader, &folder);
        if (status)
            folder_drop(&folder);
        else
            status = folder_keep(&folder);
    }
    reader_close(reader);
    return status;
}

enum status cmd_export(int argc, char **argv)
{
    const char *path = NULL;
    const struct option_row rows[] = {{"--csv", OPTION_TEXT, &path, "DIR", "the folder to make; it must not exist, or be empty"}};
    struct options options = {
        .command = "export", .operands = "STORE --csv DIR", .operands_min = 1, .operands_max = 1,
        .about = "Write the store as tidy CSV files: one row an observation, one column a variable. `unit` ties them together.\n\n"
                 "  units.csv          unit; every per-unit column: settings as applied, status, hashes, host ...\n"
                 "  channels_init.csv  unit, layer, channel, index; norm_init\n"
                 "  checks.csv         unit, step; loss, accuracies ...\n"
                 "  channels.csv       unit, step, layer, channel, index; angle, norm, running_mean, mean_lag ...\n"
                 "  trace.csv          unit, step, layer, channel, index; lag_trace\n"
                 "  reest.csv, swap_layer.csv, swap_top.csv, ema.csv   where they were measured\n\n"
                 "`channel` counts through all layers, `index` within the layer, both from 0. Numbers are the shortest decimals that\n"
                 "read back to the same bits; NaN is an empty field; rows in which nothing was measured are left out. Fields are quoted\n"
                 "as in RFC 4180, lines end in a line feed. The folder appears when all its files are complete, or not at all.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    if (!path)
        return status_fail(STATUS_INPUT, "export: --csv DIR is missing: where to");
    return export(options.operand[0], path);
}

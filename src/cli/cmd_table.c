#include "commands.h"
#include "read/table.h"
#include "text/options.h"

#include <stdbool.h>
#include <stdio.h>

enum status cmd_table(int argc, char **argv)
{
    bool csv = false, markdown = false, json = false;
    const struct option_row rows[] = {
        {"--csv", OPTION_FLAG, &csv, NULL, "comma-separated values, all digits"},
        {"--markdown", OPTION_FLAG, &markdown, NULL, "a Markdown table"},
        {"--json", OPTION_FLAG, &json, NULL, "JSON, 15 digits"},
    };
    struct options options = {
        .command = "table", .operands = "STORE", .operands_min = 1, .operands_max = 1,
        .about = "Print how fast the weights turn and how well the running statistics keep up: a row for each arm, BN momentum and\n"
                 "other setting that varies in an arm (the seed aside), by rising rotation.\n\n"
                 "  rotation/100 steps  mean over the last convolution's channels and the checks of `angle`, scaled to 100 steps\n"
                 "  norm growth         mean over the last convolution's channels of norm / norm_init, at the last check\n"
                 "  evaluation          evaluation-mode accuracy (acc_eval), mean over checks\n"
                 "  checks < 90%        share of the checks with acc_eval below 0.9\n"
                 "  training mode       training-mode accuracy (acc_train), mean over checks\n"
                 "  re-estimated        acc_reest at the last check where it was measured, from the most batches\n\n"
                 "Each is computed for a unit, then given as mean ± standard deviation (n - 1) over the units of the row that are done.\n"
                 "Units that are not done or have diverged are counted in the last column and are not in the means. CSV and JSON give\n"
                 "accuracies and shares as fractions.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    if (csv + markdown + json > 1)
        return status_fail(STATUS_INPUT, "table: --csv, --markdown and --json exclude each other");
    return table_print(options.operand[0], stdout, csv ? TABLE_CSV : markdown ? TABLE_MARKDOWN : json ? TABLE_JSON : TABLE_PLAIN);
}

/* bnsweep plan: what a run would do, without doing it. */
#include "commands.h"
#include "plan/outlook.h"
#include "text/options.h"

enum status cmd_plan(int argc, char **argv)
{
    struct outlook_request request = {0};
    struct option_sets sets = {0};
    long workers = 1;
    bool json = false;
    const struct option_row rows[] = {
        {"-o", OPTION_TEXT, &request.store, "STORE", "the HDF5 file (default: the sweep's name with .h5, here)"},
        {"-j", OPTION_COUNT, &workers, "N", "workers to reckon with (default 1)"},
        {"--set", OPTION_SETS, &sets, "KEY=VALUE", "override a setting; may be repeated"},
        {"--retry-failed", OPTION_FLAG, &request.retry_failed, NULL, "reckon with training failed units again"},
        {"--no-fuse", OPTION_FLAG, &request.no_fuse, NULL, "reckon with training units apart that differ in BN momentum alone"},
        {"--json", OPTION_FLAG, &json, NULL, "print one JSON object, with every unit"},
    };
    struct options options = {
        .command = "plan", .operands = "FILE.ini", .operands_min = 1, .operands_max = 1,
        .about = "Say what `bnsweep run` would do with the same options, and about how long it would take; touch nothing.\n"
                 "Exit status 2 where the sweep file is wrong or the store would be refused.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    request.file = options.operand[0];
    request.sets = sets.text;
    request.set_count = sets.count;
    request.workers = (size_t)workers;
    request.form = json ? OUTLOOK_JSON : OUTLOOK_TEXT;
    return outlook_print(&request);
}

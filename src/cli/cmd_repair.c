/* bnsweep repair: go on from a journal that a run refuses, with all that can be read of it. */
#include "commands.h"
#include "text/options.h"

#include "bnsweep/store/repair.h"

#include <stdio.h>

static void print(const struct repair_report *report)
{
    printf("A run would refuse this store: %s\n\n", report->problem);
    printf("The journal is kept as %s\n", report->kept);
    if (report->foreign) {
        printf("Nothing was taken from it: it belongs to another store.\n");
        return;
    }
    printf("%llu entries of it, %llu of them measurements, are in the store now", (unsigned long long)report->entries,
           (unsigned long long)report->records);
    printf("; %llu bytes in %llu places could not be read", (unsigned long long)report->bytes, (unsigned long long)report->places);
    if (report->unusable)
        printf(", %llu entries do not fit the store", (unsigned long long)report->unusable);
    printf(".\n");
    if (report->again)
        printf("%llu units had ended but lack records, or what was to be kept for replays. They are pending again; what was measured of\n"
               "them stays.\n",
               (unsigned long long)report->again);
    printf("`bnsweep run` goes on from here and trains what is missing.\n");
}

enum status cmd_repair(int argc, char **argv)
{
    struct options options = {
        .command = "repair", .operands = "STORE", .operands_min = 1, .operands_max = 1,
        .about = "For a store that `bnsweep run` refuses because its journal is damaged, or begins behind the store's end. What can be read\n"
                 "of the journal is put into the store; the journal itself is kept, as STORE.journal.damaged. Units that ended but\n"
                 "may lack a record become pending, so that the next run trains them again, to the same bits. So does one unit of a\n"
                 "trajectory whose kept batch statistics or weights (keep_batch_stats) have a gap. A store whose journal is sound is\n"
                 "left alone: a run takes the journal by itself."};
    struct repair_report report;
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    status = repair_store(options.operand[0], &report);
    if (status)
        return status;
    if (report.needed)
        print(&report);
    else
        printf("Nothing is wrong with the journal; nothing was touched.\n");
    return STATUS_OK;
}

/* bnsweep diff: are two stores' numbers the same bits? */
#include "commands.h"
#include "read/difference.h"
#include "text/options.h"

#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"

#include <inttypes.h>
#include <stdio.h>

static enum status print_lonely(const struct reader *reader, const char *which, const uint64_t *rows, size_t count, long most)
{
    char *arm;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < count && i < (size_t)most; i++) {
        status = reader_texts(reader, layout_columns_table[COLUMN_arm].name, rows[i], 1, &arm);
        if (status)
            break;
        printf("  unit %" PRIu64 " (%s) only in the %s store\n", rows[i], arm, which);
        mem_free(arm);
    }
    if (count)
        printf("%zu units only in the %s store\n", count, which);
    return status;
}

static void warn_of_journal(const struct reader *reader, const char *path)
{
    const struct reader_journal *journal = reader_journal(reader);
    if (journal->waiting)
        log_write(LOG_WARNING, "%s: %" PRIu64 " journal entries are not published yet and not compared", path, journal->waiting);
}

static enum status compare(struct difference *difference, const struct matching *matching)
{
    enum status status = difference_of_stores(difference);
    if (!status)
        status = difference_of_columns(difference);
    if (!status)
        status = difference_of_values(difference);
    if (!status)
        status = print_lonely(difference->a, "first", matching->only_a, matching->only_a_count, difference->most);
    if (!status)
        status = print_lonely(difference->b, "second", matching->only_b, matching->only_b_count, difference->most);
    if (status)
        return status;
    uint64_t lonely = matching->only_a_count + matching->only_b_count;
    printf("%zu units in both: %" PRIu64 " values compared, %" PRIu64 " differ, in %" PRIu64 " variables\n", matching->pair_count,
           difference->cells, difference->different, difference->variables);
    return difference->different || difference->others || lonely
               ? status_fail(STATUS_MISMATCH, "the stores differ")
               : STATUS_OK;
}

static enum status diff(const char *const *paths, struct difference *difference)
{
    struct reader *a = NULL, *b = NULL;
    struct matching matching = {0};
    enum status status = reader_open(paths[0], &a);
    if (!status)
        status = reader_open(paths[1], &b);
    if (!status)
        status = matching_make(a, b, &matching);
    if (!status) {
        warn_of_journal(a, paths[0]);
        warn_of_journal(b, paths[1]);
        difference->a = a;
        difference->b = b;
        difference->matching = &matching;
        status = compare(difference, &matching);
    }
    matching_free(&matching);
    reader_close(a);
    reader_close(b);
    return status;
}

enum status cmd_diff(int argc, char **argv)
{
    struct difference difference = {.most = 3};
    const struct option_row rows[] = {
        {"--all", OPTION_FLAG, &difference.all, NULL, "also compare hosts, ranks, times, attempts, paths and the file's texts"},
        {"--first", OPTION_COUNT, &difference.most, "N", "print the first N differences of a variable (default 3)"},
    };
    struct options options = {
        .command = "diff", .operands = "A B", .operands_min = 2, .operands_max = 2,
        .about = "Compare two stores cell by cell, bit by bit: measured variables, hashes, settings as applied, status. Units are matched\n"
                 "by identity, whatever their rows. Not compared, except with --all: where, when and how often a unit ran (host, rank,\n"
                 "started, seconds, attempts), paths of files, and provenance. A NaN equals the same NaN.\n\n"
                 "Exit status 0: equal; 3: something differs, or a unit is in one store only.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    return status || options.help ? status : diff(options.operand, &difference);
}

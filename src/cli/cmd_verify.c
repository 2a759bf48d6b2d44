/* bnsweep verify: is the store sound, were the settings really applied, and does training give the same bits again? */
#include "commands.h"
#include "proof/evidence.h"
#include "proof/proof.h"
#include "proof/rates.h"
#include "proof/rerun.h"
#include "proof/twins.h"
#include "text/options.h"
#include "text/tabulate.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/store/verify.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Prints the first findings of each part, and counts them all. */
struct output {
    bool all;
    uint64_t part, errors, warnings;
};

enum { MOST_LISTED = 5 };

static void print_finding(void *context, enum proof_level level, const char *text)
{
    struct output *output = context;
    output->errors += level == PROOF_ERROR;
    output->warnings += level == PROOF_WARNING;
    if (output->all || output->part < MOST_LISTED)
        printf("  %s: %s\n", level == PROOF_ERROR ? "ERROR" : "warning", text);
    output->part++;
}

static void print_problem(void *context, const char *text)
{
    print_finding(context, PROOF_ERROR, text);
}

static void end_part(struct output *output)
{
    if (!output->all && output->part > MOST_LISTED)
        printf("  ... and %llu more (--all prints them)\n", (unsigned long long)output->part - MOST_LISTED);
    output->part = 0;
}

static enum status verify_file(const char *path, struct output *output)
{
    struct verify_report report;
    struct reader *reader;
    enum status status = reader_open(path, &reader);
    if (status)
        return status; /* nothing printed yet */
    reader_close(reader);
    printf("store:\n");
    status = verify_store(path, print_problem, output, &report);
    if (status && status != STATUS_MISMATCH)
        return status;
    end_part(output);
    printf("  %llu variables, %.1f MB read with their checksums; %llu units:", (unsigned long long)report.variables,
           (double)report.bytes / 1e6, (unsigned long long)report.rows);
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        printf("%s %llu %s", state ? "," : "", (unsigned long long)report.units[state], layout_status_name(state));
    printf("\n");
    if (report.journal.exists && !report.journal.health)
        printf("  journal sound; %llu entries are not published yet, what follows is about the published store\n",
               (unsigned long long)report.journal.waiting);
    printf("  %s\n", report.problems ? "DOES NOT HOLD" : "holds");
    return STATUS_OK;
}

/* Add "initial weights, final weights" or "-". */
static void add_kinds(struct tabulate *table, const bool *kinds)
{
    char text[256] = "-";
    size_t at = 0;
    for (int kind = 0; kind < EVIDENCE_COUNT; kind++)
        if (kinds[kind])
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "", evidence_texts[kind]);
    tabulate_cell(table, "%s", text);
}

static void add_axis(struct tabulate *table, const struct proof_axis *axis)
{
    tabulate_cell(table, "%s", axis->column->label);
    tabulate_cell(table, "%llu", (unsigned long long)axis->pairs);
    add_kinds(table, axis->changed);
    add_kinds(table, axis->kept);
    if (axis->errors)
        tabulate_cell(table, "DOES NOT HOLD in %llu pairs", (unsigned long long)axis->errors);
    else if (axis->warnings)
        tabulate_cell(table, "no effect seen in %llu pairs", (unsigned long long)axis->warnings);
    else
        tabulate_cell(table, "%s", axis->pairs ? "holds" : "no two units differ in it alone");
}

static enum status prove_axes(const struct frame *frame, const struct evidence *evidence, struct output *output)
{
    static const struct tabulate_column columns[] = {
        {"setting", false}, {"pairs", true}, {"must change", false}, {"must not change", false}, {"verdict", false}};
    const struct proof_listener listener = {print_finding, output};
    struct tabulate table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    enum status status = STATUS_OK;
    printf("\nsettings, by pairs of done units that differ in one alone:\n");
    for (size_t i = 0; !status && i < frame->setting_count; i++) {
        struct proof_axis axis;
        if (!proof_varies(frame, evidence, &frame->settings[i]))
            continue;
        status = proof_axis(frame, evidence, &frame->settings[i], &listener, &axis);
        end_part(output);
        add_axis(&table, &axis);
    }
    if (!status && table.count)
        status = tabulate_print(&table, stdout, TABULATE_PLAIN);
    else if (!status)
        printf("  no setting varies among done units: nothing to compare\n");
    tabulate_free(&table);
    return status;
}

static enum status prove_twins(const struct frame *frame, const struct evidence *evidence, struct output *output)
{
    const struct proof_listener listener = {print_finding, output};
    struct twins twins;
    printf("\nunits with different settings and the same measurements:\n");
    enum status status = twins_find(frame, evidence, &listener, &twins);
    end_part(output);
    if (!status)
        printf("  %llu units compared, %llu pairs found; %s\n", (unsigned long long)twins.compared, (unsigned long long)twins.pairs,
               twins.errors ? "DOES NOT HOLD" : "holds");
    return status;
}

static enum status prove_rates(const struct frame *frame, struct output *output)
{
    const struct proof_listener listener = {print_finding, output};
    struct rates rates;
    printf("\nlearning rates read from the optimizer, against the schedules:\n");
    enum status status = rates_check(frame, &listener, &rates);
    end_part(output);
    if (!status)
        printf("  %llu checks of %llu units; %s\n", (unsigned long long)rates.compared, (unsigned long long)rates.units,
               rates.errors ? "DOES NOT HOLD" : "holds");
    return status;
}

/* A store whose structure is broken may not be readable as units at all: that is a finding, too. */
static enum status prove(const char *path, struct output *output)
{
    struct frame frame = {0};
    struct evidence *evidence = NULL;
    enum status status = frame_open(path, &frame);
    if (!status && !(evidence = mem_array(frame.rows, sizeof *evidence)))
        status = STATUS_NOMEM;
    if (!status)
        status = evidence_read(&frame, evidence);
    if (!status)
        status = prove_axes(&frame, evidence, output);
    if (!status)
        status = prove_twins(&frame, evidence, output);
    if (!status)
        status = prove_rates(&frame, output);
    mem_free(evidence);
    frame_close(&frame);
    if (status != STATUS_CORRUPT)
        return status;
    print_problem(output, status_message());
    return STATUS_OK;
}

static enum status train_again(const struct rerun *rerun, long seed, struct output *output)
{
    const struct proof_listener listener = {print_finding, output};
    struct rerun_report report;
    printf("\n%zu of %zu done units, drawn with --seed %ld, trained again:\n", rerun->count, rerun->done, seed);
    fflush(stdout);
    enum status status = rerun_train(rerun, &listener, &report);
    end_part(output);
    if (!status)
        printf("  %llu units in %llu trajectories, %llu values compared; %s\n", (unsigned long long)report.units,
               (unsigned long long)report.trajectories, (unsigned long long)report.compared,
               report.errors ? "DOES NOT HOLD" : "holds");
    return status;
}

/* `again`: how many units are trained again; 0 for none. A store that is too damaged for that is told so by the parts before. */
static enum status verify(const char *path, long again, long seed, struct output *output)
{
    struct rerun rerun = {0};
    enum status status = again ? rerun_choose(path, (size_t)again, (uint64_t)seed, &rerun) : STATUS_OK;
    bool damaged = status == STATUS_CORRUPT;
    if (!status || damaged)
        status = verify_file(path, output);
    if (!status)
        status = prove(path, output);
    if (!status && again && !damaged)
        status = train_again(&rerun, seed, output);
    rerun_free(&rerun);
    return status;
}

enum status cmd_verify(int argc, char **argv)
{
    struct output output = {0};
    long again = 0, seed = 1 + (long)((uint64_t)time(NULL) * 31 + (uint64_t)getpid()) % 1000000;
    const struct option_row rows[] = {
        {"--all", OPTION_FLAG, &output.all, NULL, "print every finding, not the first five of a kind"},
        {"--rerun", OPTION_COUNT, &again, "N", "train N done units again, drawn at random, and compare every bit"},
        {"--seed", OPTION_COUNT, &seed, "SEED", "of the draw (default: another one each time; it is printed)"},
    };
    struct options options = {
        .command = "verify", .operands = "STORE", .operands_min = 1, .operands_max = 1,
        .about =
            "Check that the store is sound, and that the settings of its units were really applied.\n\n"
            "1. Structure, checksums, completeness of done units and of what is kept for replays, journal. Every problem is an error.\n"
            "2. For each setting that varies among done units: the pairs of units that differ in it alone (in all others that both\n"
            "   read they are equal). Errors:\n"
            "   - bn_momentum: the same final running statistics, or the same running statistics or evaluation accuracy at all\n"
            "     checks; different initial weights; with norm = batch and no held freeze, where no training step reads the running\n"
            "     statistics: different final weights, or another loss, norm or angle at any check, by one bit.\n"
            "   - seed: the same initial weights (of a file: different ones).\n"
            "   - settings that only act after the weights are made (all of [train] but seed; noise, signal, task_seed, order, eps,\n"
            "     groups): different initial weights.\n"
            "   - the same final weights although one of these differs: lr, momentum, nesterov, beta1, beta2, radial, batch, steps,\n"
            "     seed, task_seed, noise, signal, classes, image, image_channels, order, groups, conv_bias.\n"
            "   Warnings (no effect seen): the same final weights where any other setting differs, which may act only after the last\n"
            "   step, never bind or say the same in other words (freeze_from, lr_interval, warmup, lr_min, weight_decay, eps, norm,\n"
            "   optimizer, contents of files ...); where lr is 0, all layers are frozen, there is one step, or two values are equal\n"
            "   to 6 digits; where no setting that makes data or weights uses the seed; bn_momentum with all running statistics held.\n"
            "3. Units with different settings whose measurements are all the same to the bit. An error where their final networks\n"
            "   differ and the last check was at the end, or where a setting differs that must have changed them; else a warning.\n"
            "4. The learning rate read from the optimizer at each check, against the schedule: an error where they differ.\n"
            "5. With --rerun: units trained again here, from the settings in the store; those of one trajectory together. An error for\n"
            "   each variable of a unit that has another bit, naming the first. Refused (exit status 2) where this machine's convolutions\n"
            "   do not give the store's bits, or where a data or init file is gone or has changed. Nothing is written.\n\n"
            "Units that are pending, running, diverged or failed prove nothing and are left out of 2 to 5.\n"
            "Exit status 0: all holds, perhaps with warnings; 3: there is an error; 2: there is no store, or it is none; 1: the file\n"
            "is too damaged to be opened.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    status = verify(options.operand[0], again, seed, &output);
    if (status)
        return status;
    printf("\n%llu errors, %llu warnings\n", (unsigned long long)output.errors, (unsigned long long)output.warnings);
    return output.errors ? status_fail(STATUS_MISMATCH, "%s: %llu errors found", options.operand[0], (unsigned long long)output.errors)
                         : STATUS_OK;
}

#include "options.h"

#include "bnsweep/sweep/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const struct options *options)
{
    printf("usage: bnsweep %s %s%s\n\n%s\n", options->command, options->row_count ? "[options] " : "", options->operands, options->about);
    if (options->row_count)
        printf("\noptions:\n");
    for (size_t i = 0; i < options->row_count; i++) {
        const struct option_row *row = &options->rows[i];
        char left[64];
        snprintf(left, sizeof left, "%s %s", row->name, row->argument ? row->argument : "");
        printf("  %-22s %s\n", left, row->help);
    }
}

static enum status set_value(const struct options *options, const struct option_row *row, const char *text)
{
    char *end;
    errno = 0;
    if (row->type == OPTION_TEXT) {
        *(const char **)row->value = text;
        return STATUS_OK;
    }
    if (row->type == OPTION_SETS) {
        struct option_sets *sets = row->value;
        if (sets->count == OPTIONS_MAX_SETS)
            return status_fail(STATUS_INPUT, "%s: at most %d times %s", options->command, OPTIONS_MAX_SETS, row->name);
        sets->text[sets->count++] = text;
        return STATUS_OK;
    }
    if (row->type == OPTION_COUNT) {
        long value = strtol(text, &end, 10);
        if (errno || end == text || *end || value < 1)
            return status_fail(STATUS_INPUT, "%s: %s is '%s'; a whole number from 1 is needed", options->command, row->name, text);
        *(long *)row->value = value;
        return STATUS_OK;
    }
    double value = strtod(text, &end);
    if (errno || end == text || *end || !(value >= 0) || isinf(value))
        return status_fail(STATUS_INPUT, "%s: %s is '%s'; a number from 0 is needed", options->command, row->name, text);
    *(double *)row->value = value;
    return STATUS_OK;
}

static const struct option_row *find(const struct options *options, const char *name, size_t length)
{
    for (size_t i = 0; i < options->row_count; i++)
        if (strlen(options->rows[i].name) == length && strncmp(options->rows[i].name, name, length) == 0)
            return &options->rows[i];
    return NULL;
}

static enum status unknown(const struct options *options, const char *text)
{
    const char *names[32] = {"--help"};
    size_t count = 1;
    for (size_t i = 0; i < options->row_count && count < 32; i++)
        names[count++] = options->rows[i].name;
    return status_fail(STATUS_INPUT, "%s: there is no option '%s'; did you mean '%s'? (bnsweep %s --help lists them)", options->command,
                       text, nearest_name(text, names, count), options->command);
}

/* Take the option at argv[*at], with its argument, which may follow an "=" or stand alone. */
static enum status take_option(struct options *options, int argc, char **argv, int *at)
{
    const char *text = argv[*at], *equals = strncmp(text, "--", 2) == 0 ? strchr(text, '=') : NULL;
    const struct option_row *row = find(options, text, equals ? (size_t)(equals - text) : strlen(text));
    if (!row)
        return unknown(options, text);
    if (row->type == OPTION_FLAG) {
        if (equals)
            return status_fail(STATUS_INPUT, "%s: %s takes no value", options->command, row->name);
        *(bool *)row->value = true;
        return STATUS_OK;
    }
    if (!equals && *at + 1 >= argc)
        return status_fail(STATUS_INPUT, "%s: %s needs a value: %s", options->command, row->name, row->argument);
    return set_value(options, row, equals ? equals + 1 : argv[++*at]);
}

enum status options_read(struct options *options, int argc, char **argv)
{
    bool only_operands = false;
    for (int at = 1; at < argc; at++) {
        const char *text = argv[at];
        if (!only_operands && strcmp(text, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)) {
            print_help(options);
            options->help = true;
            return STATUS_OK;
        } else if (!only_operands && text[0] == '-' && text[1]) {
            enum status status = take_option(options, argc, argv, &at);
            if (status)
                return status;
        } else if (options->operand_count >= options->operands_max) {
            return status_fail(STATUS_INPUT, "%s: '%s' is one argument too many; usage: bnsweep %s %s", options->command, text,
                               options->command, options->operands);
        } else {
            options->operand[options->operand_count++] = text;
        }
    }
    if (options->operand_count < options->operands_min)
        return status_fail(STATUS_INPUT, "%s: an argument is missing; usage: bnsweep %s %s", options->command, options->command,
                           options->operands);
    return STATUS_OK;
}

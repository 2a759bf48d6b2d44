/* bnsweep keys: every setting of a sweep file and every measured variable, from the tables that drive the program. */
#include "commands.h"
#include "text/keys_print.h"
#include "text/options.h"

#include "bnsweep/measure/variables.h"
#include "bnsweep/sweep/nearest.h"
#include "bnsweep/sweep/settings.h"

#include <string.h>

static enum status find_setting(const char *name, int *out)
{
    *out = settings_find(name);
    if (*out >= 0)
        return STATUS_OK;
    return status_fail(STATUS_INPUT, "there is no setting '%s'; did you mean '%s'? (bnsweep keys lists them)", name,
                       settings_nearest(name));
}

static enum status find_variable(const char *name, int *out)
{
    const char *names[VARIABLE_COUNT];
    for (*out = 0; *out < VARIABLE_COUNT; ++*out) {
        names[*out] = variables_table[*out].name;
        if (strcmp(names[*out], name) == 0)
            return STATUS_OK;
    }
    return status_fail(STATUS_INPUT, "there is no variable '%s'; did you mean '%s'? (bnsweep keys --variables lists them)", name,
                       nearest_name(name, names, VARIABLE_COUNT));
}

enum status cmd_keys(int argc, char **argv)
{
    bool variables = false, markdown = false, json = false;
    const struct option_row rows[] = {
        {"--variables", OPTION_FLAG, &variables, NULL, "the measured variables instead of the settings"},
        {"--markdown", OPTION_FLAG, &markdown, NULL, "as Markdown tables"},
        {"--json", OPTION_FLAG, &json, NULL, "as a JSON array"},
    };
    struct options options = {
        .command = "keys", .operands = "[KEY]", .operands_max = 1,
        .about = "List what a sweep file can set, or say what one KEY is.",
        .rows = rows, .row_count = sizeof rows / sizeof *rows};
    int only = KEYS_PRINT_ALL;
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    if (markdown && json)
        return status_fail(STATUS_INPUT, "keys: --markdown and --json are two forms; choose one");
    if (options.operand_count)
        status = variables ? find_variable(options.operand[0], &only) : find_setting(options.operand[0], &only);
    if (status)
        return status;
    enum keys_print_form form = json ? KEYS_PRINT_JSON : markdown ? KEYS_PRINT_MARKDOWN : KEYS_PRINT_TEXT;
    return variables ? keys_print_variables(form, only) : keys_print_settings(form, only);
}

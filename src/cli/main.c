/* bnsweep: dispatches to the subcommands; the only place that decides an exit code. */
#include "bnsweep/base/status.h"
#include "commands.h"
#include "origin/provenance.h"

#include "bnsweep/base/log.h"
#include "bnsweep/sweep/nearest.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct command {
    const char *name;
    bool shown;
    const char *help;
    enum status (*run)(int argc, char **argv);
};

enum { HIDDEN = false, SHOWN = true };

static const struct command commands[] = {
#define X(name, shown, help) {#name, shown, help, cmd_##name},
    COMMANDS(X)
#undef X
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fprintf(out, "usage: bnsweep COMMAND [options] ...\n\nWhen and why do batch norm's running statistics go stale?\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].shown)
            fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n`bnsweep COMMAND --help` says more; `bnsweep --version` what this program is made of.\n\n"
                 "exit status: 0 complete; 1 some units failed, or input or output did; 2 bad usage or configuration;\n"
                 "3 verification found a difference; 75 stopped before the end, run again to go on; 128+n ended by signal n.\n");
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const char *nearest_command(const char *text)
{
    const char *names[COMMAND_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].shown)
            names[count++] = commands[i].name;
    return nearest_name(text, names, count);
}

/* HDF5 1.10 can crash over a damaged file, and other libraries where memory ends. Say so, before the process ends by the signal. */
static void explain(int number)
{
    static const char text[] = "bnsweep: error: the program crashed; too little memory (ulimit -v) can do that, and a damaged store or data"
                               " file, inside the HDF5 library: try h5dump on it, and put a copy in its place\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    raise(number); /* its handler is gone */
}

static void explain_crashes(void)
{
    struct sigaction action = {.sa_handler = explain, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
}

static enum status run(int argc, char **argv)
{
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        provenance_print(stdout);
        return STATUS_OK;
    }
    const struct command *command = find(argv[1]);
    if (!command)
        return status_fail(STATUS_INPUT, "there is no command '%s'; did you mean '%s'? (bnsweep --help lists them)", argv[1],
                           nearest_command(argv[1]));
    if (command->shown) /* of a training process its worker tells */
        explain_crashes();
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a file that would exceed a limit is an error of its write, as a full disk is */
    if (argc < 2) {
        print_usage(stderr);
        return status_exit_code(STATUS_INPUT);
    }
    enum status status = run(argc, argv);
    if (status && *status_message())
        log_write(status == STATUS_INCOMPLETE ? LOG_INFO : LOG_ERROR, "%s", status_message());
    if (fflush(stdout) || ferror(stdout)) {
        log_write(LOG_ERROR, "could not write to standard output");
        return status_exit_code(STATUS_IO);
    }
    return status_exit_code(status);
}

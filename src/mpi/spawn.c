#include "spawn_internal.h"

#include "bnsweep/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

enum { HIGH_DESCRIPTOR = 10 };

static bool is_mpi_variable(const char *variable)
{
    static const char *const prefixes[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* Return the environment without MPI's variables: an array to free, its strings not owned. NULL: out of memory. */
static char **clean_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **clean = mem_array(count + 1, sizeof *clean);
    for (size_t i = 0; clean && i < count; i++)
        if (!is_mpi_variable(environ[i]))
            clean[kept++] = environ[i];
    return clean;
}

/* A pipe whose ends are close-on-exec and above the descriptors that the child's ends become. */
static enum status open_pipe(int ends[2])
{
    int low[2] = {-1, -1};
    bool ok = !pipe2(low, O_CLOEXEC);
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = ok ? fcntl(low[i], F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR) : -1;
        ok = ok && ends[i] >= 0;
    }
    int error = errno;
    for (unsigned i = 0; i < 2; i++) {
        if (low[i] >= 0)
            close(low[i]);
        if (!ok && ends[i] >= 0)
            close(ends[i]);
    }
    return ok ? STATUS_OK : status_fail(STATUS_IO, "pipe to the training process: %s", strerror(error));
}

static void close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* Signals stay blocked in the child until trainer_begin has its handlers in place. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t blocked, defaults;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGUSR1);
    sigfillset(&defaults);
    sigdelset(&defaults, SIGPIPE);
    int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = error ? error : posix_spawnattr_setsigmask(attributes, &blocked);
    return error ? error : posix_spawnattr_setsigdefault(attributes, &defaults);
}

static int set_descriptors(posix_spawn_file_actions_t *actions, int in, int out)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = error ? error : posix_spawn_file_actions_adddup2(actions, in, CHILD_IN);
    error = error ? error : posix_spawn_file_actions_adddup2(actions, out, CHILD_OUT);
    return error ? error : posix_spawn_file_actions_addclosefrom_np(actions, CHILD_OUT + 1);
}

static enum status start(const struct child_config *config, int in, int out, pid_t *pid)
{
    const char *program = config->program ? config->program : "/proc/self/exe";
    char **environment = clean_environment();
    if (!environment)
        return STATUS_NOMEM;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int error = set_attributes(&attributes);
    error = error ? error : set_descriptors(&actions, in, out);
    error = error ? error : posix_spawn(pid, program, &actions, &attributes, config->arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    mem_free(environment);
    return error ? status_fail(STATUS_IO, "starting %s: %s", program, strerror(error)) : STATUS_OK;
}

enum status spawn_process(const struct child_config *config, pid_t *pid, int *to_child, int *from_child)
{
    int to[2], from[2];
    enum status status = open_pipe(to);
    if (status)
        return status;
    status = open_pipe(from);
    if (status) {
        close_pipe(to);
        return status;
    }
    status = start(config, to[0], from[1], pid);
    if (status) {
        close_pipe(to);
        close_pipe(from);
        return status;
    }
    close(to[0]);
    close(from[1]);
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    fcntl(from[0], F_SETFL, O_NONBLOCK);
    *to_child = to[1];
    *from_child = from[0];
    return STATUS_OK;
}

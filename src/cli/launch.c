#include "launch.h"

#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_NANOSECONDS = 50000000, DEADLOCK_ROUNDS = 600 };

/* Open MPI refuses to run as root unless both are set; who starts us as root means it. */
static void allow_root(void)
{
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
}

static volatile sig_atomic_t mpirun_process, stops;

/* Hand a signal on: mpirun itself would end the ranks about a second after SIGINT or SIGTERM. */
static void hand_on(int number)
{
    int known = errno;
    if (mpirun_process > 0)
        kill(mpirun_process, number == SIGUSR1 || stops++ == 0 ? SIGUSR1 : SIGTERM);
    errno = known;
}

static void set_handlers(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* The child's side: a process group of its own, so that Ctrl-C reaches us alone; and an end with us. */
static void become_mpirun(char *const *arguments)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execvp("mpirun", arguments);
    static const char text[] = "bnsweep: error: could not start mpirun (Debian: apt-get install openmpi-bin)\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return;
}

/* The status whose exit code a process ended with; its message is empty. */
static enum status status_of_exit(int code)
{
#define X(name, number, exit_code, text) \
    if (code == exit_code && number != STATUS_NOMEM && number != STATUS_SHAPE) \
        return status_fail(STATUS_##name, "%s", "");
    STATUS_LIST(X)
#undef X
    return status_fail(STATUS_IO, "mpirun ended with exit status %d", code);
}

/* Whether the process has children that run. */
static bool has_living_children(pid_t process)
{
    char path[64], state = 0;
    long child;
    bool living = false;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process, (long)process);
    FILE *children = fopen(path, "re");
    if (!children)
        return true; /* this system does not list them */
    while (!living && fscanf(children, "%ld", &child) == 1) {
        snprintf(path, sizeof path, "/proc/%ld/stat", child);
        FILE *about = fopen(path, "re");
        living = about && fscanf(about, "%*d (%*[^)]) %c", &state) == 1 && state != 'Z';
        if (about)
            fclose(about);
    }
    fclose(children);
    return living;
}

/* Wait for mpirun. After its ranks were killed, Open MPI 4.1's sometimes never ends (a deadlock in PMIx_server_finalize): then it is
 * killed too. */
static int await_mpirun(pid_t process)
{
    int state = 0;
    unsigned alone = 0;
    bool begun = false;
    for (pid_t ended; (ended = waitpid(process, &state, WNOHANG)) == 0 || (ended < 0 && errno == EINTR);) {
        bool living = has_living_children(process);
        begun = begun || living;
        alone = begun && !living ? alone + 1 : 0;
        if (alone == DEADLOCK_ROUNDS) {
            log_write(LOG_WARNING, "mpirun does not end although all its ranks have; it is killed");
            kill(process, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = ROUND_NANOSECONDS}, NULL);
    }
    return state;
}

static enum status start_and_wait(char *const *arguments)
{
    fflush(NULL);
    pid_t process = fork();
    if (process < 0)
        return status_fail(STATUS_IO, "could not start mpirun: %s", strerror(errno));
    if (process == 0) {
        become_mpirun(arguments);
        _exit(status_exit_code(STATUS_IO));
    }
    mpirun_process = process;
    set_handlers(hand_on);
    int state = await_mpirun(process);
    mpirun_process = 0;
    set_handlers(SIG_DFL);
    if (WIFSIGNALED(state))
        return status_fail(STATUS_IO, "mpirun was ended by signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
    return WEXITSTATUS(state) ? status_of_exit(WEXITSTATUS(state)) : STATUS_OK;
}

enum status launch_mpirun(long workers, int argc, char **argv)
{
    char program[PATH_MAX], ranks[32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return status_fail(STATUS_IO, "could not find this program's path: %s", strerror(errno));
    program[length] = 0;
    snprintf(ranks, sizeof ranks, "%ld", workers + 1);
    /* -q: no banner about the exit status, which is ours to explain. The manager sleeps, so one rank more than cores is no burden. */
    const char *const head[] = {"mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-n", ranks, program};
    enum { HEAD = sizeof head / sizeof *head };
    const char **arguments = mem_array(HEAD + (size_t)argc + 1, sizeof *arguments);
    if (!arguments)
        return STATUS_NOMEM;
    size_t count = HEAD;
    memcpy(arguments, head, sizeof head);
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        only_operands = only_operands || strcmp(argv[i], "--") == 0;
        if (!only_operands && strcmp(argv[i], "-j") == 0)
            i++;
        else
            arguments[count++] = argv[i];
    }
    allow_root();
    enum status status = start_and_wait((char *const *)(uintptr_t)arguments);
    mem_free(arguments);
    return status;
}

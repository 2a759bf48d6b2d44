#include "launch.h"

#include "offspring.h"

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

/* Open MPI refuses to run as root unless both are set; who starts us as root means it. */
static void allow_root(void)
{
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
}

static volatile sig_atomic_t mpirun_process, stops, urgent; /* urgent: of the stops, those by SIGTERM and SIGINT */

/* Hand a signal on: mpirun itself would end the ranks about a second after SIGINT or SIGTERM. */
static void hand_on(int number)
{
    int known = errno;
    stops = 1;
    urgent += number != SIGUSR1 && urgent < 2;
    if (mpirun_process > 0)
        kill(mpirun_process, number != SIGUSR1 && urgent > 1 ? SIGTERM : SIGUSR1);
    errno = known;
}

static void set_handlers(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* The child's side: a process group of its own, so that Ctrl-C reaches us alone; an end with us; and no end by a SIGUSR1 that comes before
 * mpirun has its handler. */
static void become_mpirun(char *const *arguments)
{
    signal(SIGUSR1, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execvp("mpirun", arguments);
    static const char text[] = "bnsweep: error: could not start mpirun (Debian: apt-get install openmpi-bin)\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return;
}

/* What happened to mpirun, as seen so far. */
struct watch {
    bool had_ranks, given_up;
    unsigned rounds, without_ranks; /* looks; seconds since its last rank ended, or since its start */
};

enum { ROUNDS_A_SECOND = 10, PATIENCE_SECONDS = 10, STARTING_SECONDS = 60 };

/* Between two looks: a request to stop is repeated, since ranks that were being started when it came have missed it; and an mpirun whose
 * ranks were killed while they started, or that could not start any, can wait for them for ever: it is ended. */
static void look_after(pid_t mpirun, struct watch *watch)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000000 / ROUNDS_A_SECOND}, NULL);
    if (++watch->rounds % ROUNDS_A_SECOND)
        return;
    if (stops)
        kill(mpirun, SIGUSR1);
    bool ranks = offspring_any(mpirun);
    watch->had_ranks = watch->had_ranks || ranks;
    watch->without_ranks = ranks ? 0 : watch->without_ranks + 1;
    if (watch->without_ranks < (watch->had_ranks || stops ? PATIENCE_SECONDS : STARTING_SECONDS))
        return;
    kill(mpirun, watch->given_up ? SIGKILL : SIGTERM);
    watch->given_up = true;
}

/* The status whose exit code a process ended with; its message is empty. */
static enum status status_of_exit(int code)
{
#define X(name, number, exit_code, text) \
    if (code == exit_code && number != STATUS_NOMEM && number != STATUS_SHAPE) \
        return status_fail(STATUS_##name, "%s", "");
    STATUS_LIST(X)
#undef X
    return status_fail(STATUS_IO, "mpirun ended with exit status %d: a rank was lost; run again to go on", code);
}

static enum status status_of_end(int state, const struct watch *watch)
{
    /* After a second stop mpirun has ended the ranks itself, and its status says nothing of the sweep. */
    bool known = WIFEXITED(state) && urgent < 2 &&
                 (WEXITSTATUS(state) < 4 || WEXITSTATUS(state) == status_exit_code(STATUS_INCOMPLETE));
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return STATUS_OK;
    if (stops && !known) /* it came before the ranks could take it */
        return status_fail(STATUS_INCOMPLETE, "stopped before all ranks had ended in good order; run again to go on");
    if (watch->given_up && watch->had_ranks)
        return status_fail(STATUS_IO, "mpirun had lost its ranks and did not end; run again to go on");
    if (watch->given_up)
        return status_fail(STATUS_IO, "mpirun started no rank within %d s; what it lacks (ulimit -a, space in /tmp), `mpirun -n 2 hostname` "
                                      "may say", STARTING_SECONDS);
    if (WIFSIGNALED(state))
        return status_fail(STATUS_IO, "mpirun was ended by signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
    return status_of_exit(WEXITSTATUS(state));
}

static enum status start_and_wait(char *const *arguments)
{
    int state;
    struct watch watch = {0};
    set_handlers(hand_on);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        become_mpirun(arguments);
        _exit(status_exit_code(STATUS_IO));
    }
    if (process < 0) {
        set_handlers(SIG_DFL);
        return status_fail(STATUS_IO, "could not start mpirun: %s", strerror(errno));
    }
    mpirun_process = process;
    pid_t ended;
    while ((ended = waitpid(process, &state, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
        look_after(process, &watch);
    mpirun_process = 0; /* the handlers stay: a request that is repeated until we are gone must not end us now */
    return status_of_end(state, &watch);
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

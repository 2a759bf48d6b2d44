#include "bnsweep/mpi/signals.h"

#include <signal.h>
#include <stddef.h>

/* X(signal, whether it may mean "now") */
#define SIGNALS(X) \
    X(SIGUSR1, 0)  \
    X(SIGTERM, 1)  \
    X(SIGINT, 1)

static volatile sig_atomic_t first, urgent;

static void note(int number)
{
    if (!first)
        first = number;
#define X(name, hurries)             \
    if (number == name && hurries)   \
        urgent = urgent < 2 ? urgent + 1 : 2;
    SIGNALS(X)
#undef X
}

void signals_begin(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, ignore = {.sa_handler = SIG_IGN};
#define X(name, hurries) sigaction(name, &action, NULL);
    SIGNALS(X)
#undef X
    sigaction(SIGPIPE, &ignore, NULL);
}

const char *signals_stop(void)
{
    switch (first) {
#define X(name, hurries) case name: return #name;
        SIGNALS(X)
#undef X
    }
    return NULL;
}

bool signals_now(void)
{
    return urgent > 1;
}

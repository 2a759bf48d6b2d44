#include "commands.h"
#include "text/options.h"

#include "bnsweep/store/publish.h"

#include <signal.h>
#include <sys/prctl.h>

enum status cmd_publish(int argc, char **argv)
{
    struct options options = {.command = "publish", .operands = "STORE", .operands_min = 1, .operands_max = 1,
                              .about = "Put what the journal holds into the store. `bnsweep run` does this by itself."};
    enum status status = options_read(&options, argc, argv);
    if (status || options.help)
        return status;
    /* A publisher ends with the run that started it; it holds that run's lock until then. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return publish_run(options.operand[0]);
}

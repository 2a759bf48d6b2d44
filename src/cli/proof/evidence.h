/* What shows whether a unit's settings were applied: hashes of its network, and of what was measured of it. */
#ifndef BNSWEEP_CLI_EVIDENCE_H
#define BNSWEEP_CLI_EVIDENCE_H

#include "read/frame.h"

#include "bnsweep/base/hash.h"

/* X(NAME, what it is). WEIGHT_TRACE: measurements that no running statistics enter, STATISTICS_TRACE: those that they enter. */
#define EVIDENCE(X)                                                    \
    X(INIT, "initial weights")                                         \
    X(WEIGHTS, "final weights")                                        \
    X(STATISTICS, "final running statistics")                          \
    X(WEIGHT_TRACE, "loss, norms and angles")                          \
    X(STATISTICS_TRACE, "running statistics and evaluation accuracy")

enum evidence_kind {
#define X(name, text) EVIDENCE_##name,
    EVIDENCE(X)
#undef X
        EVIDENCE_COUNT
};
extern const char *const evidence_texts[EVIDENCE_COUNT];

struct evidence {
    bool done;     /* published as done: the rest is known */
    bool measured; /* at least one check was made */
    struct hash hash[EVIDENCE_COUNT];
};

/* Gather the evidence of all units: out[frame->rows]. STATUS_CORRUPT (a done unit without its hashes), STATUS_NOMEM. */
enum status evidence_read(const struct frame *frame, struct evidence *out);

#endif

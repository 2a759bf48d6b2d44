/* What `bnsweep run` would do, found out without touching anything. */
#ifndef BNSWEEP_CLI_OUTLOOK_H
#define BNSWEEP_CLI_OUTLOOK_H

#include "estimate.h"
#include "sheet.h"
#include "sources.h"

#include "bnsweep/base/status.h"
#include "bnsweep/store/lock_note.h"
#include "bnsweep/store/preview.h"
#include "bnsweep/sweep/grouping.h"
#include "bnsweep/sweep/sweep.h"

#include <stdbool.h>
#include <stdint.h>

/* How a unit stands, X(NAME, text, meaning). */
#define OUTLOOK_STATES(X)                                                        \
    X(NEW, "new", "not in the store")                                            \
    X(PENDING, "pending", "in the store, not trained yet")                       \
    X(INTERRUPTED, "interrupted", "goes on from its saved state")                \
    X(REPLAY, "replay", "computed from stored batch statistics, not trained")    \
    X(RUNNING, "running", "a run is at it, or ended without a word")             \
    X(DONE, "done", "measured")                                                          \
    X(DIVERGED, "diverged", "a result: it is not trained again")                 \
    X(FAILED, "failed", "--retry-failed trains it again")

enum outlook_state {
#define X(name, text, meaning) OUTLOOK_##name,
    OUTLOOK_STATES(X)
#undef X
        OUTLOOK_STATE_COUNT
};
extern const char *const outlook_state_names[OUTLOOK_STATE_COUNT], *const outlook_state_meanings[OUTLOOK_STATE_COUNT];

/* Why units are not fused that differ in BN momentum alone, X(NAME, text). */
#define OUTLOOK_APART(X)                                                                               \
    X(RENORM, "norm = batchrenorm: training reads the running statistics")                             \
    X(HELD, "freeze_stats = held: training reads the frozen blocks' running statistics")               \
    X(ASKED, "--no-fuse")

enum outlook_apart {
#define X(name, text) OUTLOOK_APART_##name,
    OUTLOOK_APART(X)
#undef X
        OUTLOOK_APART_COUNT
};
extern const char *const outlook_apart_texts[OUTLOOK_APART_COUNT];

/* How to print it: for a reader, as one JSON object, or in one line that says what is left and decides the status. */
enum outlook_form { OUTLOOK_TEXT, OUTLOOK_JSON, OUTLOOK_LEFT };

/* What the command line asks for; nothing is owned. */
struct outlook_request {
    const char *file, *store; /* the store may be NULL: the sweep's name with .h5, here */
    const char *const *sets;
    size_t set_count, workers;
    bool retry_failed, no_fuse;
    enum outlook_form form;        /* OUTLOOK_LEFT: times and sizes are not estimated */
};

/* Zero-initialise. */
struct outlook {
    struct outlook_request request;
    struct sweep sweep;
    struct sheet sheet;
    struct preview preview;
    struct lock_note writer;       /* who writes the store now */
    struct writer_unit *units;     /* [sweep.unit_count] where each is or would be */
    unsigned char *states;         /* [sweep.unit_count] enum outlook_state */
    size_t *trajectory;            /* [sweep.unit_count] index in grouping; SIZE_MAX: not to be trained */
    size_t counts[OUTLOOK_STATE_COUNT];
    uint64_t extra;                /* units of the store that the sweep file does not ask for */
    enum status refused;           /* a run would be refused: why, and nothing below is known */
    char refusal[2048];
    struct grouping grouping;      /* what would be trained */
    struct sources sources;        /* what of it would be replayed instead; rows is NULL with --no-fuse */
    size_t replayed_units;
    size_t to_train, fused_units, apart[OUTLOOK_APART_COUNT];
    size_t again, again_units;     /* trajectories trained anew, and units done of them, for momenta that are new */
    size_t saved, unused_states;   /* trajectories that go on; saved states that belong to none */
    double *seconds;               /* [grouping.count] */
    struct estimate estimate;
    enum status unestimated;       /* why there is no estimate, with `estimate_message` */
    char estimate_message[1024];
    uint64_t store_bytes;          /* at the end */
    size_t keepers;                /* trajectories of the sweep that keep their batch statistics */
    uint64_t kept_bytes;           /* by one of them, in the store */
};

/* Find out. A store that would be refused is no failure here: see `refused`. The caller frees `out` with outlook_free also on
 * failure. STATUS_INPUT for a bad sweep file, STATUS_IO, STATUS_NOMEM. */
enum status outlook_create(const struct outlook_request *request, struct outlook *out);
void outlook_free(struct outlook *outlook);

/* Return whether a trajectory of the grouping would be replayed. */
bool outlook_replays(const struct outlook *outlook, size_t trajectory);

/* Find out and print it in the form that is asked for. What outlook_create returns, STATUS_NOMEM, why a store would be refused, and with
 * OUTLOOK_LEFT what outlook_left_print says. */
enum status outlook_print(const struct outlook_request *request);

#endif

/* Trains units of a store again, in this process, and compares every bit. Nothing is written. */
#ifndef BNSWEEP_CLI_RERUN_H
#define BNSWEEP_CLI_RERUN_H

#include "proof.h"
#include "read/frame.h"

/* The units that were chosen. Zero-initialise; free with rerun_free. */
struct rerun {
    struct frame frame;
    struct rerun_unit {
        size_t row;
        struct hash trajectory; /* equal for units that share a training */
        struct settings settings;
    } *units;                   /* [count] trajectory by trajectory, owned */
    size_t count, done;         /* done: units of the store that can be chosen */
    bool other_blas;            /* the reference engine runs, and the store was made with another BLAS library than it has here */
};

struct rerun_report {
    uint64_t units, trajectories, compared, errors;
};

/* Open the store at `path` and choose `count` of its done units (all, where it has fewer) by `seed`. STATUS_INPUT where this program
 * does not give the store's bits, or a file that a chosen unit was trained from is gone or has changed; errors as frame_open. */
enum status rerun_choose(const char *path, size_t count, uint64_t seed, struct rerun *out);
void rerun_free(struct rerun *rerun);

/* Train the chosen units, those of one trajectory together, and compare all that was measured, the hashes and the settings as applied.
 * Each variable of a unit that differs is one finding, naming the first place. STATUS_NOMEM, or what reading the store or training
 * returns; findings are none. */
enum status rerun_train(const struct rerun *rerun, const struct proof_listener *listener, struct rerun_report *out);

#endif

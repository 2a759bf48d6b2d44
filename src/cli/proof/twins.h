/* Units with different settings whose measurements are the same to the last bit. */
#ifndef BNSWEEP_CLI_TWINS_H
#define BNSWEEP_CLI_TWINS_H

#include "proof.h"

struct twins {
    uint64_t compared, pairs, errors, warnings;
};

/* Find done units whose traces are equal. An error where their networks are not, although the last check was made at the end of
 * training, or where they differ in a setting that must have changed something; else a warning, unless proof_axis says it.
 * evidence [frame->rows]. STATUS_CORRUPT, STATUS_NOMEM; findings are none. */
enum status twins_find(const struct frame *frame, const struct evidence *evidence, const struct proof_listener *listener,
                       struct twins *out);

#endif

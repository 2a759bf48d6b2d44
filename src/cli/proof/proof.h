/* The proof that settings were applied, from the numbers of units that differ in one setting alone. */
#ifndef BNSWEEP_CLI_PROOF_H
#define BNSWEEP_CLI_PROOF_H

#include "effects.h"
#include "evidence.h"
#include "read/frame.h"

enum proof_level { PROOF_WARNING, PROOF_ERROR };

/* Receives each finding as one line of text. */
struct proof_listener {
    void (*find)(void *context, enum proof_level level, const char *text);
    void *context;
};

/* One setting that varies among the done units, and what the pairs of units that differ in it alone show. */
struct proof_axis {
    const struct frame_column *column;
    uint64_t pairs, errors, warnings;                      /* errors and warnings in pairs */
    bool changed[EVIDENCE_COUNT], kept[EVIDENCE_COUNT];    /* was expected of at least one pair */
};

/* Judge every pair of done units that differ in the setting `column` alone: in all others that both read they are equal.
 * evidence [frame->rows]. STATUS_CORRUPT, STATUS_NOMEM; findings are none. */
enum status proof_axis(const struct frame *frame, const struct evidence *evidence, const struct frame_column *column,
                       const struct proof_listener *listener, struct proof_axis *out);

/* Return whether the setting has more than one value among done units, and can change a number. */
bool proof_varies(const struct frame *frame, const struct evidence *evidence, const struct frame_column *column);

#endif

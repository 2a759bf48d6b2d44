/* What a change of one setting must change in a trained network, and what it cannot. */
#ifndef BNSWEEP_CLI_EFFECTS_H
#define BNSWEEP_CLI_EFFECTS_H

#include "evidence.h"

#include "bnsweep/sweep/settings.h"

/* OPEN: either may be. KEPT: it cannot change. LIKELY: it should, but may have had no occasion to. CERTAIN: it must. */
enum effect { EFFECT_OPEN, EFFECT_KEPT, EFFECT_LIKELY, EFFECT_CERTAIN };

struct effects {
    enum effect on[EVIDENCE_COUNT];
};

/* Return the effects of setting `key` (-1: one this program does not know) in which alone two done units with settings `a` and
 * `b` differ. */
struct effects effects_of(int key, const struct settings *a, const struct settings *b);

#endif

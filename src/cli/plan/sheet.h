/* What the store of a sweep looks like: the layout made from its settings, and its units as rows. */
#ifndef BNSWEEP_CLI_SHEET_H
#define BNSWEEP_CLI_SHEET_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/store/layout.h"
#include "bnsweep/store/writer.h"
#include "bnsweep/sweep/sweep.h"

/* Zero-initialise; all arrays are owned by the arena. */
struct sheet {
    const struct sweep *sweep; /* not owned */
    struct layout layout;
    struct writer_units units;
    size_t described;           /* the unit `settings` belongs to; one more than the last at the start */
    struct settings settings;
    uint32_t conditions;        /* settings_conditions of them */
    const char *arm;
    struct sheet_text *texts;   /* [layout.column_count] each setting's text as last asked for */
    struct arena arena;
};

/* Lay the sweep's store out: axes as long as the longest unit needs, a column a setting, provenance in the attributes.
 * The caller frees it with sheet_free also on failure. STATUS_NOMEM, STATUS_INPUT. */
enum status sheet_create(struct sheet *sheet, const struct sweep *sweep);

void sheet_free(struct sheet *sheet);

#endif

/* What a journal says beyond the published store, by row. */
#ifndef BNSWEEP_STORE_OVERLAY_INTERNAL_H
#define BNSWEEP_STORE_OVERLAY_INTERNAL_H

#include "bnsweep/base/arena.h"
#include "bnsweep/store/journal_reader.h"
#include "bnsweep/store/reader.h"
#include "schema_internal.h"

struct overlay_row {
    bool has_state, has_end;
    struct journal_entry state;  /* the last STATUS */
    enum unit_status outcome;    /* of END */
    bool ended_last;             /* END came after the last STATUS */
    double seconds;
    bool *checks;                /* [extent.checks] recorded */
};

struct overlay {
    struct arena arena;
    struct overlay_row **rows; /* [schema.rows] NULL: nothing new */
};

/* Read what is new to the store of `schema` in the journal (NULL: none). Free with overlay_free also on failure. Damage and a
 * journal that does not fit go to `health`. STATUS_CORRUPT only where entries are missing between store and journal, STATUS_NOMEM. */
enum status overlay_read(struct journal_reader *reader, const struct schema *schema, struct overlay *out,
                         struct reader_journal *health);

void overlay_free(struct overlay *overlay);

#endif

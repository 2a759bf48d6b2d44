/* Bringing a sweep's units into a store: which it knows, rows for the others, the sweep's columns and attributes. */
#ifndef BNSWEEP_STORE_ADMISSION_INTERNAL_H
#define BNSWEEP_STORE_ADMISSION_INTERNAL_H

#include "bnsweep/store/writer.h"
#include "schema_internal.h"

struct admission {
    const struct layout *layout;       /* not owned */
    const struct writer_units *units;  /* not owned */
    struct writer_unit *out;           /* [units->count] not owned */
    uint64_t old_rows, rows;           /* before and after */
    size_t *new_units;                 /* owned: [rows - old_rows] the unit behind each new row */
    bool changes;                      /* the file needs admission_edit */
};

/* Find each unit's row in `file` (-1: no store yet) and number the rows to come. Free with admission_free also on failure.
 * STATUS_CORRUPT, STATUS_NOMEM. */
enum status admission_find(struct admission *admission, hid_t file);

/* Return about how many bytes the new rows take. */
uint64_t admission_growth(const struct admission *admission);

/* Add rows, columns and attributes, and make units pending that were left running (`context`: the admission). STATUS_IO ... */
enum status admission_edit(hid_t file, const struct schema *schema, void *context);

/* Read how each unit stands. STATUS_CORRUPT. */
enum status admission_read_states(struct admission *admission, hid_t file);

void admission_free(struct admission *admission);

#endif

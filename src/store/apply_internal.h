/* Puts a journal's entries into a store file. */
#ifndef BNSWEEP_STORE_APPLY_INTERNAL_H
#define BNSWEEP_STORE_APPLY_INTERNAL_H

#include "bnsweep/measure/record.h"
#include "bnsweep/store/journal_reader.h"
#include "schema_internal.h"

#include <stddef.h>

/* The entries that a store has not yet, ordered by row and, within a row, as they came. */
struct apply_plan {
    struct apply_item {
        uint64_t row, sequence, offset;
    } *items; /* owned */
    size_t count, capacity, rows; /* rows: how many different ones */
    uint64_t kept;      /* bytes of records of kept groups */
    uint64_t last;      /* sequence number of the last one; the store's own where there is none */
};

/* Refuse a record whose sizes are not the store's. STATUS_CORRUPT. */
enum status apply_check(const struct record *record, const struct variables_extent *extent);

/* Read the whole journal (NULL: none) and list what is new to the store. Free the plan with apply_free also on failure.
 * STATUS_VERSION (another store's journal), STATUS_CORRUPT (damage, or entries missing between the two), STATUS_NOMEM. */
enum status apply_list(struct journal_reader *reader, const struct schema *schema, struct apply_plan *out);

/* The parts of that: add an entry, later than those before it (STATUS_NOMEM); bring all into the order in which they are applied. */
enum status apply_add(struct apply_plan *plan, const struct journal_entry *entry);
void apply_order(struct apply_plan *plan);

/* Return about how many bytes the file can grow by. */
uint64_t apply_growth(const struct apply_plan *plan, const struct schema *schema);

/* Write the listed entries into the file and note the last one in it. STATUS_IO, STATUS_CORRUPT, STATUS_NOMEM. */
enum status apply_write(hid_t file, struct journal_reader *reader, const struct schema *schema, const struct apply_plan *plan);

void apply_free(struct apply_plan *plan);

#endif

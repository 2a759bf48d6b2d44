/* Making a new version of a store file; for who holds its lock. */
#ifndef BNSWEEP_STORE_PUBLISH_INTERNAL_H
#define BNSWEEP_STORE_PUBLISH_INTERNAL_H

#include "bnsweep/store/layout.h"
#include "apply_internal.h"
#include "schema_internal.h"

/* A change besides the journal's entries, made after them. */
struct publish_edit {
    enum status (*make)(hid_t file, const struct schema *schema, void *context);
    void *context;
    uint64_t growth; /* about how many bytes it adds */
};

/* Put a new store in place, where none is. Sets schema->store and schema->applied's start. STATUS_IO ... */
enum status publish_create(const char *store, const struct layout *layout, const struct publish_edit *edit);

/* Copy, apply the journal, edit (NULL: nothing), replace. */
enum status publish_update(const char *store, const struct publish_edit *edit);

/* The same with the entries of an open journal that `list` chooses. */
struct publish_source {
    struct journal_reader *reader; /* NULL: no journal */
    enum status (*list)(struct journal_reader *reader, const struct schema *schema, struct apply_plan *out, void *context);
    void *context;
};
enum status publish_from(const char *store, const struct publish_source *source, const struct publish_edit *edit);

#endif

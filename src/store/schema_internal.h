/* The store's HDF5 file: which variables and attributes it has. */
#ifndef BNSWEEP_STORE_SCHEMA_INTERNAL_H
#define BNSWEEP_STORE_SCHEMA_INTERNAL_H

#include "bnsweep/base/hash.h"
#include "bnsweep/store/layout.h"
#include "h5_internal.h"

/* Rows of a column in one chunk, and handled together: 4 KiB of numbers. */
enum { SCHEMA_BLOCK_ROWS = 512 };

/* What every reader and writer of a store needs first. */
struct schema {
    struct hash store;                              /* identity, drawn at random when the store was made */
    uint64_t applied;                               /* sequence number of the last journal entry in it */
    uint64_t rows;                                  /* units */
    struct variables_extent extent;
};

/* Fill a new, empty file: no rows yet. STATUS_IO, STATUS_INPUT (two columns of one name). */
enum status schema_create(hid_t file, const struct layout *layout, struct hash store);

/* Read what is in the file. STATUS_INPUT (an HDF5 file, but no store), STATUS_VERSION, STATUS_CORRUPT. */
enum status schema_read(hid_t file, const char *path, struct schema *out);

/* Add rows up to `rows`, empty but for the unit coordinate. */
enum status schema_grow(hid_t file, uint64_t old_rows, uint64_t rows);

/* Set the sequence number of the last journal entry in the store. */
enum status schema_set_applied(hid_t file, uint64_t applied);

/* Return the bytes of one value of a measured variable. */
size_t schema_element(enum variable_id id);

/* Return the sizes and chunks of a measured variable in a store with these axes, without rows yet, and its axes. */
struct h5_shape schema_shape(const struct variables_extent *extent, enum variable_id id, enum layout_axis axes[LAYOUT_MAX_RANK]);

/* Create the layout's column where it is missing. */
enum status schema_add_column(hid_t file, const struct layout_column *column, uint64_t rows);

#endif

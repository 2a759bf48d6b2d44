/* Reads a store without disturbing its writer: the published file, and what the journal holds beyond it. A reader sees the store
 * as it was when opened; publishing replaces the file and leaves the reader its own. */
#ifndef BNSWEEP_STORE_READER_H
#define BNSWEEP_STORE_READER_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/store/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;

struct reader_column {
    char name[LAYOUT_NAME_SIZE]; /* in the file */
    enum layout_type type;
    bool setting; /* false: one of layout_columns_table */
};

/* The journal beside the store. */
struct reader_journal {
    bool exists;
    enum status health;   /* STATUS_OK, or why it cannot be used, with `message` */
    char message[512];
    uint64_t waiting;     /* entries that the store has not yet */
    uint64_t torn_bytes;  /* at its end: a commit being written now, or torn by a crash (then never acknowledged) */
};

/* Open the store. A damaged journal is no failure here: see reader_journal. Close with reader_close.
 * STATUS_INPUT (not there, or no store), STATUS_CORRUPT, STATUS_VERSION, STATUS_IO, STATUS_NOMEM. */
enum status reader_open(const char *path, struct reader **out);

/* The same without what the journal holds beyond the published file, which need not be read then. */
enum status reader_open_published(const char *path, struct reader **out);

/* NULL is allowed. */
void reader_close(struct reader *reader);

/* Return the number of units, and the lengths of the other axes. */
uint64_t reader_rows(const struct reader *reader);
const struct variables_extent *reader_extent(const struct reader *reader);
const struct reader_journal *reader_journal(const struct reader *reader);

/* Read a text attribute of the file; owned by the caller (mem_free). STATUS_CORRUPT where there is none. */
enum status reader_attribute(const struct reader *reader, const char *name, char **out);

/* Read an axis' coordinate, as many elements as the axis is long; the type must be the axis' (texts: each owned by the caller).
 * Also for the names channel_layer and channel_index (integers, one a channel). STATUS_CORRUPT, STATUS_NOMEM. */
enum status reader_axis_integers(const struct reader *reader, const char *name, int64_t *out);
enum status reader_axis_reals(const struct reader *reader, const char *name, double *out);
enum status reader_axis_texts(const struct reader *reader, const char *name, char **out);

/* Return how many per-unit columns there are, and one of them; owned by the reader. The store's own come first. */
size_t reader_column_count(const struct reader *reader);
const struct reader_column *reader_column(const struct reader *reader, size_t index);

/* Read rows [first, first + count) of a column, as published. Reals takes integer columns too; texts takes all, numbers in the
 * shortest form that reads back the same, and each text is owned by the caller. STATUS_INPUT (no such column, or another
 * type), STATUS_CORRUPT, STATUS_NOMEM. */
enum status reader_integers(const struct reader *reader, const char *column, uint64_t first, size_t count, int64_t *out);
enum status reader_reals(const struct reader *reader, const char *column, uint64_t first, size_t count, double *out);
enum status reader_texts(const struct reader *reader, const char *column, uint64_t first, size_t count, char **out);

/* Read a measured variable at rows [first, first + count), as published: out[count][check or sample][...] in the order of its axes,
 * NaN where not measured. STATUS_INPUT where the store has no such variable or rows, STATUS_CORRUPT. */
enum status reader_values(const struct reader *reader, enum variable_id id, uint64_t first, size_t count, float *out);

/* Read positions [first, first + count) (checks, samples or steps; a variable without them has one) of one unit's variable, of any
 * type: out[count][...], doubles where its group has doubles. Errors as reader_values. */
enum status reader_positions(const struct reader *reader, enum variable_id id, uint64_t row, uint64_t first, size_t count, void *out);

#endif

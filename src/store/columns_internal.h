/* Writes per-unit columns a block of rows at a time: the block of a column is read when its first value changes, and written
 * when another block begins, so that rows in rising order cost one read and one write a column and block. */
#ifndef BNSWEEP_STORE_COLUMNS_INTERNAL_H
#define BNSWEEP_STORE_COLUMNS_INTERNAL_H

#include "schema_internal.h"

struct columns;

/* Open all columns of a file with `rows` rows, of which those from `added` on have just been added: they are not read, and hold "", 0
 * or NaN until they are set. Free with columns_close. STATUS_CORRUPT, STATUS_NOMEM. */
enum status columns_open(hid_t file, uint64_t rows, uint64_t added, struct columns **out);

/* Return the number of the column stored as `name`, -1 where there is none. The store's own have their enum layout_column_id. */
int columns_find(const struct columns *columns, const char *name);

/* Set a value. Rows are best given in rising order. A type other than the column's: STATUS_INTERNAL. STATUS_IO, STATUS_NOMEM. */
enum status columns_set_text(struct columns *columns, uint64_t row, int column, const char *text);
enum status columns_set_integer(struct columns *columns, uint64_t row, int column, int64_t value);
enum status columns_set_real(struct columns *columns, uint64_t row, int column, double value);

/* Set a value from its text in the column's type. STATUS_INPUT where the text is no such number; the value is then as before. */
enum status columns_parse(struct columns *columns, uint64_t row, int column, const char *text);

/* The same where the text is known to be that of the row before, which was set since the columns were opened: it costs less. */
enum status columns_repeat(struct columns *columns, uint64_t row, int column, const char *text);

/* Write what has changed. STATUS_IO. */
enum status columns_flush(struct columns *columns);

/* Free the columns (NULL is allowed), dropping what was not flushed. What HDF5 held back is written only now: return `status`, how it went
 * so far, or STATUS_IO. */
enum status columns_close(struct columns *columns, enum status status);

#endif

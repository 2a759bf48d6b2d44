/* Gathers one unit's records and writes them together: one write a variable and run of neighbouring checks, however many
 * records they came in. Kept groups, which are large and come many positions a record, are written as they come. */
#ifndef BNSWEEP_STORE_VALUES_INTERNAL_H
#define BNSWEEP_STORE_VALUES_INTERNAL_H

#include "bnsweep/measure/record.h"
#include "h5_internal.h"

struct values;

/* Open the measured variables of a file. Free with values_close. STATUS_CORRUPT, STATUS_NOMEM. */
enum status values_open(hid_t file, const struct variables_extent *extent, struct values **out);

/* Remember a record of values that passed apply_check, in place of an earlier one of its group and index; not of a kept group. */
void values_put(struct values *values, const struct record *record);

/* Write all that was put at `row`, and forget it. STATUS_IO. */
enum status values_write(struct values *values, uint64_t row);

/* Write a record of a kept group that passed apply_check. STATUS_IO, STATUS_NOMEM. */
enum status values_write_kept(struct values *values, uint64_t row, const struct record *record);

/* Free the values (NULL is allowed). What HDF5 held back is written only now: return `status`, how it went so far, or STATUS_IO. */
enum status values_close(struct values *values, enum status status);

#endif

/* Reads a whole array of numbers from an HDF5 file that others made. */
#ifndef BNSWEEP_STORE_FLOATS_INTERNAL_H
#define BNSWEEP_STORE_FLOATS_INTERNAL_H

#include "h5_internal.h"

/* An array's place and sizes. */
struct floats {
    const char *path, *name; /* not owned; for messages */
    hid_t dataset;           /* -1: not open */
    int rank;
    hsize_t size[LAYOUT_MAX_RANK];
    size_t total; /* elements, at least 1 */
};

/* Open an array of `rank` axes (0: 1 to 4) and type class H5T_FLOAT or H5T_INTEGER; refuse one that is empty. STATUS_INPUT.
 * Close with floats_close, also on failure. */
enum status floats_open(hid_t file, const char *path, const char *name, int rank, H5T_class_t class, struct floats *out);

/* Read all of it as float; NaN and infinity are refused. Owned by the caller. STATUS_INPUT, STATUS_CORRUPT, STATUS_NOMEM. */
enum status floats_read(const struct floats *array, float **out);

/* Read all of it as int32 labels in [0, 2^31 - 1). Owned by the caller. Errors as floats_read. */
enum status floats_read_labels(const struct floats *array, int32_t **out);

void floats_close(struct floats *array);

#endif

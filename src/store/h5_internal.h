/* The few HDF5 operations the store needs, with status codes. No function here leaves an identifier open on failure. */
#ifndef BNSWEEP_STORE_H5_INTERNAL_H
#define BNSWEEP_STORE_H5_INTERNAL_H

#include "bnsweep/base/status.h"
#include "bnsweep/store/layout.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/* Part of a dataset. */
struct h5_slab {
    int rank;
    hsize_t start[LAYOUT_MAX_RANK], count[LAYOUT_MAX_RANK];
};

/* What a dataset to be created is like. */
struct h5_shape {
    int rank;
    hsize_t size[LAYOUT_MAX_RANK], chunk[LAYOUT_MAX_RANK]; /* chunk[0] 0: contiguous */
    bool grows;                                            /* the first axis is unlimited */
};

/* Fail with a message and, behind it, what HDF5 says was the cause. */
enum status h5_fail(enum status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Open for reading or (read_write) for changing. Without HDF5's file locks: stores are never changed in place.
 * STATUS_IO, STATUS_CORRUPT (damaged), STATUS_INPUT (no HDF5 file). */
enum status h5_open(const char *path, bool read_write, hid_t *out);

/* Create a file that tracks the order in which its objects and attributes were made, as netCDF wants it. */
enum status h5_create(const char *path, hid_t *out);

/* Write out and close; STATUS_IO. */
enum status h5_close(hid_t file, const char *path);

/* Create a dataset: `file_type` a number or a text type. Chunks of numbers have checksums. `fill`: NULL for 0.
 * Close `*out` with h5_close_dataset. STATUS_IO. */
enum status h5_create_dataset(hid_t file, const char *name, hid_t file_type, const struct h5_shape *shape,
                              const double *fill, hid_t *out);

/* Open a dataset; close with H5Dclose, or with h5_close_dataset if it was changed. STATUS_CORRUPT where it is not there. */
enum status h5_open_dataset(hid_t file, const char *name, hid_t *out);

/* Open a dataset whose chunks, of `chunk_bytes`, are read and written in their order: it keeps two of them in memory. */
enum status h5_open_in_order(hid_t file, const char *name, size_t chunk_bytes, hid_t *out);

/* Close a dataset that was written to, after which all was well or not (`status`): what HDF5 held back of it is written only now. Return
 * the first error; STATUS_IO. */
enum status h5_close_dataset(hid_t dataset, const char *name, enum status status);

/* Call `visit` with the name of each of the file's variables, in the order of `index`, until it returns something else than 0, which is
 * returned; -1 where HDF5 fails. Used instead of H5Literate, which frees what it never set in a damaged file (1.10.8). */
herr_t h5_each_variable(hid_t file, H5_index_t index, herr_t (*visit)(hid_t file, const char *name, void *context), void *context);

/* Return the sizes of its axes in `size` [LAYOUT_MAX_RANK], and its rank; -1 where the rank is above LAYOUT_MAX_RANK. */
int h5_sizes(hid_t dataset, hsize_t size[LAYOUT_MAX_RANK]);

/* Read or write a slab (NULL: everything), as elements of memory type `type`, in C order. `name` is for the message. */
enum status h5_read(hid_t dataset, const char *name, hid_t type, const struct h5_slab *slab, void *out);
enum status h5_write(hid_t dataset, const char *name, hid_t type, const struct h5_slab *slab, const void *values);

/* Write `count` numbers as an attribute (an array), in place of an earlier one. STATUS_IO. */
enum status h5_put(hid_t object, const char *name, hid_t type, const void *numbers, size_t count);

bool h5_has(hid_t object, const char *name);

/* Read an integer attribute. STATUS_CORRUPT where it is missing or anything else. */
enum status h5_get(hid_t object, const char *name, int64_t *out);

#endif

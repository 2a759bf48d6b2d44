/* Variable-length texts in HDF5: rows of them, and attributes. */
#ifndef BNSWEEP_STORE_H5_TEXT_INTERNAL_H
#define BNSWEEP_STORE_H5_TEXT_INTERNAL_H

#include "h5_internal.h"

/* Return a new type "variable-length UTF-8 text"; close with H5Tclose. */
hid_t h5_text_type(void);

/* Read `count` texts from `first` on along the only axis into out[count], each owned by the caller (mem_free); "" where none was
 * written. All are NULL on failure. STATUS_CORRUPT, STATUS_NOMEM. */
enum status h5_text_read(hid_t dataset, const char *name, hsize_t first, size_t count, char **out);

/* Write texts[count] from `first` on. STATUS_IO. */
enum status h5_text_write(hid_t dataset, const char *name, hsize_t first, size_t count, const char *const *texts);

/* Write a text attribute, in place of an earlier one. STATUS_IO. */
enum status h5_text_put(hid_t object, const char *name, const char *text);

/* Read a text attribute, owned by the caller (mem_free). STATUS_CORRUPT where it is missing or no text, STATUS_NOMEM. */
enum status h5_text_get(hid_t object, const char *name, char **out);

#endif

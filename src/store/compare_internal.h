/* Whether a store is of the layout that a sweep needs. */
#ifndef BNSWEEP_STORE_COMPARE_INTERNAL_H
#define BNSWEEP_STORE_COMPARE_INTERNAL_H

#include "schema_internal.h"

/* Compare axes, coordinates, the types of columns and the fixed attributes. A column of the layout that the store has not yet
 * is no difference. STATUS_VERSION naming the first difference. */
enum status compare_layout(hid_t file, const char *path, const struct layout *layout);

#endif

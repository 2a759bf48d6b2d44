/* How large a store's file becomes. */
#ifndef BNSWEEP_STORE_FOOTPRINT_H
#define BNSWEEP_STORE_FOOTPRINT_H

#include "bnsweep/store/writer.h"

/* Return about how many bytes a store of `rows` units has when all of them are done: chunks and texts as HDF5 allots them, the
 * texts of a unit as long as those of the first of `units`. Errors are those of units->describe. */
enum status footprint_bytes(const struct layout *layout, const struct writer_units *units, uint64_t rows, uint64_t *out);

#endif

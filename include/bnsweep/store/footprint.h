/* How large a store's file becomes. */
#ifndef BNSWEEP_STORE_FOOTPRINT_H
#define BNSWEEP_STORE_FOOTPRINT_H

#include "bnsweep/store/writer.h"

/* Return about how many bytes `trajectories` take of what is kept once a trajectory; 0 where nothing is kept. */
uint64_t footprint_kept(const struct layout *layout, uint64_t trajectories);

/* Return about how many bytes a store of `rows` units has when all of them are done, without what is kept once a trajectory: chunks
 * and texts as HDF5 allots them, the texts of a unit as long as those of the first of `units`. Errors are those of units->describe. */
enum status footprint_bytes(const struct layout *layout, const struct writer_units *units, uint64_t rows, uint64_t *out);

#endif

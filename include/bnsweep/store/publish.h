/* Publishing: a new store file from the old one and the journal, put in its place in one step. */
#ifndef BNSWEEP_STORE_PUBLISH_H
#define BNSWEEP_STORE_PUBLISH_H

#include "bnsweep/base/status.h"

/* Copy the store at `path`, apply its journal, and rename the copy over it. The old file is untouched until then and intact
 * after any failure; the journal stays as it is (entries that the store has already are passed over).
 * Takes the store's lock, or shares its parent's (see lock.h): this is the whole of `bnsweep publish`.
 * STATUS_LOCKED, STATUS_IO, STATUS_CORRUPT, STATUS_INPUT (no store), STATUS_VERSION, STATUS_NOMEM. */
enum status publish_run(const char *path);

#endif

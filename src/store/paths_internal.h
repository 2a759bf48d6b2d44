/* The names of a store's files. */
#ifndef BNSWEEP_STORE_PATHS_INTERNAL_H
#define BNSWEEP_STORE_PATHS_INTERNAL_H

#include "bnsweep/base/status.h"

#include <limits.h>

/* What the longest name beside a store, a state's in its folder, adds to the store's path at most. */
enum { PATHS_COMPANION = 128 };

/* Write the absolute path of `store`, which may not exist yet, with symbolic links resolved: two names of one store then
 * share its lock and journal. STATUS_INPUT where its folder cannot be reached, where it is no file, or where the path leaves no room
 * for the names of what stands beside it. */
enum status paths_resolve(const char *store, char out[PATH_MAX]);

/* Write `store` + `suffix` (".journal", ".lock"). STATUS_INPUT where that is too long. */
enum status paths_beside(const char *store, const char *suffix, char out[PATH_MAX]);

/* Check that a store that is not there has left no journal: the measurements in it would be lost by a new store. STATUS_INPUT. */
enum status paths_check_absent(const char *store);

/* Split into folder and file name; `folder` receives the folder, the name within `path` is returned. */
const char *paths_folder(const char *path, char folder[PATH_MAX]);

#endif

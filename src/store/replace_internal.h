/* A file replaced in one step: written beside it under another name, synced, renamed over it, and the folder synced. */
#ifndef BNSWEEP_STORE_REPLACE_INTERNAL_H
#define BNSWEEP_STORE_REPLACE_INTERNAL_H

#include "bnsweep/base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct replace {
    int fd;       /* of the temporary, open for reading and writing */
    bool renamed; /* the new file has the target's name, whatever replace_commit returned */
    char target[PATH_MAX], temporary[PATH_MAX];
};

/* Create the empty temporary TARGET.publish.PID. STATUS_IO. On success end with replace_commit or replace_abort. */
enum status replace_begin(const char *target, struct replace *out);

/* Copy the target's contents and permissions into the temporary. STATUS_IO. */
enum status replace_copy(struct replace *replace);

/* Set `bytes` of disk aside for the temporary, so that a full disk shows before anything is written. STATUS_IO. */
enum status replace_reserve(struct replace *replace, uint64_t bytes);

/* Sync, rename, sync the folder. STATUS_IO: the temporary is gone and the target as it was (or, where only the folder's sync
 * failed, already the new one: the message says so, and `renamed`). */
enum status replace_commit(struct replace *replace);

/* Remove the temporary. Keeps the thread's message. */
void replace_abort(struct replace *replace);

/* Remove temporaries that dead writers left beside `target`. Only for who holds the store's lock. */
void replace_clean(const char *target);

/* Wait until the folder that holds `path` is on disk. STATUS_IO. */
enum status replace_sync_folder(const char *path);

#endif

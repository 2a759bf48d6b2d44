/* One writer a store: an exclusive lock on STORE.lock, with a note of who holds it. */
#ifndef BNSWEEP_STORE_LOCK_H
#define BNSWEEP_STORE_LOCK_H

#include "bnsweep/base/status.h"

#include <limits.h>

/* The descriptor on which a publishing child finds its parent's lock: a number too high to be taken by chance. */
enum { LOCK_INHERITED_FD = 100 };

struct lock {
    int fd; /* -1: not held. Close-on-exec, so that only who is meant to shares the lock. */
    char path[PATH_MAX];
};

/* Take the lock of the store at `store` (as paths_resolve gave it) without waiting, but for a killed run's publishing child on this
 * machine, which ends within moments. Where this process inherited the lock on
 * LOCK_INHERITED_FD, share that: the lock then lasts until both have let go.
 * STATUS_LOCKED with the holder's note, STATUS_IO. */
enum status lock_take(const char *store, struct lock *out);

/* Let go and remove the file; a child that shares the lock only lets go. Who locks a file of that name makes sure that it still has it. */
void lock_release(struct lock *lock);

#endif

/* An arena: allocations with one lifetime, freed together. */
#ifndef BNSWEEP_BASE_ARENA_H
#define BNSWEEP_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

/* Zero-initialise (`struct arena arena = {0}`); not thread-safe. */
struct arena {
    struct arena_block *blocks; /* owned */
    size_t bytes;               /* handed out so far */
};

/* Return `count` zeroed elements of `size` bytes, aligned to 64 bytes, owned by the arena.
 * NULL with a message on overflow or out of memory: the caller returns STATUS_NOMEM. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Free everything and leave an empty arena. */
void arena_free(struct arena *arena);

#endif

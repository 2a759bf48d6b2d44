#include "bnsweep/base/arena.h"

#include "bnsweep/base/mem.h"

struct arena_block {
    struct arena_block *next;
    void *data; /* owned */
};

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    struct arena_block *block = mem_array(1, sizeof *block);
    if (!block)
        return NULL;
    block->data = mem_array(count, size);
    if (!block->data) {
        mem_free(block);
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    arena->bytes += count * size;
    return block->data;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        mem_free(block->data);
        mem_free(block);
    }
    arena->bytes = 0;
}

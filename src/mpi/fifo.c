#include "bnsweep/mpi/fifo.h"

#include "bnsweep/base/mem.h"

#include <string.h>

static enum status grow(struct fifo *fifo)
{
    size_t capacity = fifo->capacity ? fifo->capacity * 2 : 16;
    unsigned char *items = mem_array(capacity, fifo->item_size);
    if (!items)
        return STATUS_NOMEM;
    for (size_t i = 0; i < fifo->count; i++)
        memcpy(items + i * fifo->item_size, fifo_at(fifo, i), fifo->item_size);
    mem_free(fifo->items);
    fifo->items = items;
    fifo->head = 0;
    fifo->capacity = capacity;
    return STATUS_OK;
}

enum status fifo_push(struct fifo *fifo, const void *item)
{
    if (fifo->count == fifo->capacity && grow(fifo))
        return STATUS_NOMEM;
    size_t at = (fifo->head + fifo->count) & (fifo->capacity - 1);
    memcpy(fifo->items + at * fifo->item_size, item, fifo->item_size);
    fifo->count++;
    return STATUS_OK;
}

void *fifo_at(const struct fifo *fifo, size_t index)
{
    if (index >= fifo->count)
        return NULL;
    return fifo->items + ((fifo->head + index) & (fifo->capacity - 1)) * fifo->item_size;
}

void fifo_pop(struct fifo *fifo)
{
    if (!fifo->count)
        return;
    fifo->head = (fifo->head + 1) & (fifo->capacity - 1);
    fifo->count--;
}

void fifo_free(struct fifo *fifo)
{
    mem_free(fifo->items);
    *fifo = (struct fifo){.item_size = fifo->item_size};
}

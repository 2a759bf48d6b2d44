/* A growing first-in first-out queue of equally large items. */
#ifndef BNSWEEP_MPI_FIFO_H
#define BNSWEEP_MPI_FIFO_H

#include "bnsweep/base/status.h"

#include <stddef.h>

/* Start with `{.item_size = sizeof(item)}`; free with fifo_free. */
struct fifo {
    size_t item_size, count;
    size_t head, capacity; /* in items; capacity is 0 or a power of two */
    unsigned char *items;  /* owned; item i from the front is at (head + i) mod capacity */
};

/* Copy `item` to the back. STATUS_NOMEM, the queue then unchanged. */
enum status fifo_push(struct fifo *fifo, const void *item);

/* Return item `index` from the front, inside the queue, valid until the next push; NULL past the back. */
void *fifo_at(const struct fifo *fifo, size_t index);

/* Drop the front item; nothing happens where there is none. */
void fifo_pop(struct fifo *fifo);

void fifo_free(struct fifo *fifo);

#endif

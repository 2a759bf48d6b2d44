/* Checked allocation: products that overflow and memory that is not there give NULL and a message. */
#ifndef BNSWEEP_BASE_MEM_H
#define BNSWEEP_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* Multiply `*product` by `factor`; false, and `*product` unchanged, where that overflows. */
bool mem_multiply(size_t *product, size_t factor);

/* Return `count` zeroed elements of `size` bytes, aligned to 64 bytes (never NULL for count 0).
 * NULL with a message where the product overflows or memory is out: the caller returns STATUS_NOMEM. Free with mem_free. */
void *mem_array(size_t count, size_t size);

/* Grow `old` (NULL or from mem_array, holding `old_count` elements) to `count` elements; the new ones are zero.
 * NULL with a message on failure, `old` then untouched. */
void *mem_grow(void *old, size_t old_count, size_t count, size_t size);

/* Return a copy of the string; NULL with a message on failure. Free with mem_free. */
char *mem_text(const char *text);

/* Free what this module gave; NULL is allowed. */
void mem_free(void *pointer);

#endif

#include "bnsweep/base/mem.h"

#include "bnsweep/base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

bool mem_multiply(size_t *product, size_t factor)
{
    size_t result;
    if (__builtin_mul_overflow(*product, factor, &result))
        return false;
    *product = result;
    return true;
}

void *mem_array(size_t count, size_t size)
{
    size_t bytes = count;
    void *pointer = NULL;
    if (!mem_multiply(&bytes, size) || bytes > PTRDIFF_MAX) {
        status_fail(STATUS_NOMEM, "an array of %zu elements of %zu bytes is too large", count, size);
        return NULL;
    }
    /* Not aligned_alloc: that wants whole multiples of the alignment, and what is rounded up hides an overrun from the sanitizer. */
    if (posix_memalign(&pointer, ALIGNMENT, bytes ? bytes : 1)) {
        status_fail(STATUS_NOMEM, "out of memory: could not get %zu bytes", bytes);
        return NULL;
    }
    return memset(pointer, 0, bytes);
}

void *mem_grow(void *old, size_t old_count, size_t count, size_t size)
{
    void *grown = mem_array(count, size);
    if (!grown)
        return NULL;
    if (old)
        memcpy(grown, old, (old_count < count ? old_count : count) * size);
    mem_free(old);
    return grown;
}

char *mem_text(const char *text)
{
    size_t length = strlen(text);
    char *copy = mem_array(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void mem_free(void *pointer)
{
    free(pointer);
}

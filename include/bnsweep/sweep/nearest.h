/* The known name that a misspelled one most likely meant. */
#ifndef BNSWEEP_SWEEP_NEAREST_H
#define BNSWEEP_SWEEP_NEAREST_H

#include <stddef.h>

/* Return the number of single-character edits (insert, delete, replace, swap of neighbours) between two texts, letter case
 * ignored. Only the first 63 bytes of each count. */
size_t nearest_distance(const char *a, const char *b);

/* Return the name with the smallest distance, the first of equals; NULL where count is 0. */
const char *nearest_name(const char *text, const char *const *names, size_t count);

#endif

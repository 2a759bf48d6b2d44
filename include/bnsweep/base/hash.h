/* Stable hashes: the same bytes give the same number on every machine, in every version (XXH3, fixed since xxHash 0.8). */
#ifndef BNSWEEP_BASE_HASH_H
#define BNSWEEP_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_HEX_SIZE = 33 }; /* 32 hexadecimal digits and the ending zero */

struct hash {
    uint64_t high, low;
};

/* Return the 128-bit hash of `size` bytes (NULL allowed where size is 0). */
struct hash hash_bytes(const void *bytes, size_t size);

/* Return a 64-bit checksum of `size` bytes, continuing from `seed` (0 at the start). */
uint64_t hash_checksum(const void *bytes, size_t size, uint64_t seed);

/* Return the hash of two hashes, in this order. */
struct hash hash_combine(struct hash first, struct hash second);

bool hash_equal(struct hash a, struct hash b);

/* Write 32 lower-case hexadecimal digits and an ending zero. */
void hash_hex(struct hash hash, char out[HASH_HEX_SIZE]);

/* Read 32 hexadecimal digits; false where `text` is anything else. */
bool hash_from_hex(const char *text, struct hash *out);

#endif

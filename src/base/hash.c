#include "bnsweep/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

struct hash hash_bytes(const void *bytes, size_t size)
{
    XXH128_hash_t h = XXH3_128bits(bytes, size);
    return (struct hash){h.high64, h.low64};
}

uint64_t hash_checksum(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

struct hash hash_combine(struct hash first, struct hash second)
{
    char text[2 * HASH_HEX_SIZE];
    hash_hex(first, text);
    hash_hex(second, text + HASH_HEX_SIZE);
    return hash_bytes(text, sizeof text);
}

bool hash_equal(struct hash a, struct hash b)
{
    return a.high == b.high && a.low == b.low;
}

void hash_hex(struct hash hash, char out[HASH_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[i] = digits[hash.high >> (60 - 4 * i) & 15];
        out[16 + i] = digits[hash.low >> (60 - 4 * i) & 15];
    }
    out[HASH_HEX_SIZE - 1] = '\0';
}

bool hash_from_hex(const char *text, struct hash *out)
{
    if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32)
        return false;
    return sscanf(text, "%16" SCNx64 "%16" SCNx64, &out->high, &out->low) == 2;
}

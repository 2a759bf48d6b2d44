#include "bnsweep/base/unpack.h"

#include <string.h>

const uint8_t *unpack_bytes(struct unpack *unpack, size_t size)
{
    if (unpack->failed || size > unpack->size - unpack->at) {
        unpack->failed = true;
        return NULL;
    }
    const uint8_t *at = unpack->data + unpack->at;
    unpack->at += size;
    return at;
}

static uint64_t unpack_little(struct unpack *unpack, unsigned bytes)
{
    const uint8_t *at = unpack_bytes(unpack, bytes);
    uint64_t value = 0;
    for (unsigned i = 0; at && i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

uint8_t unpack_u8(struct unpack *unpack)
{
    return (uint8_t)unpack_little(unpack, 1);
}

uint32_t unpack_u32(struct unpack *unpack)
{
    return (uint32_t)unpack_little(unpack, 4);
}

uint64_t unpack_u64(struct unpack *unpack)
{
    return unpack_little(unpack, 8);
}

float unpack_f32(struct unpack *unpack)
{
    uint32_t bits = unpack_u32(unpack);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double unpack_f64(struct unpack *unpack)
{
    uint64_t bits = unpack_u64(unpack);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct hash unpack_hash(struct unpack *unpack)
{
    uint64_t high = unpack_u64(unpack);
    return (struct hash){high, unpack_u64(unpack)};
}

void unpack_text(struct unpack *unpack, char *out, size_t capacity)
{
    uint32_t length = unpack_u32(unpack);
    const uint8_t *bytes = length < capacity ? unpack_bytes(unpack, length) : NULL;
    if (!bytes || memchr(bytes, 0, length)) {
        unpack->failed = true;
        out[0] = 0;
        return;
    }
    memcpy(out, bytes, length);
    out[length] = 0;
}

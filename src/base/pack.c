#include "bnsweep/base/pack.h"

#include "bnsweep/base/mem.h"

#include <string.h>

static uint8_t *reserve(struct pack *pack, size_t more)
{
    if (pack->failed)
        return NULL;
    size_t wanted;
    if (__builtin_add_overflow(pack->size, more, &wanted) || wanted > SIZE_MAX / 2) {
        pack->failed = true;
        return NULL;
    }
    if (wanted > pack->capacity) {
        size_t capacity = wanted < 128 ? 256 : wanted * 2;
        uint8_t *grown = mem_grow(pack->data, pack->size, capacity, 1);
        if (!grown) {
            pack->failed = true;
            return NULL;
        }
        pack->data = grown;
        pack->capacity = capacity;
    }
    uint8_t *at = pack->data + pack->size;
    pack->size = wanted;
    return at;
}

static void pack_little(struct pack *pack, uint64_t value, unsigned bytes)
{
    uint8_t *at = reserve(pack, bytes);
    for (unsigned i = 0; at && i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

void pack_u8(struct pack *pack, uint8_t value)
{
    pack_little(pack, value, 1);
}

void pack_u32(struct pack *pack, uint32_t value)
{
    pack_little(pack, value, 4);
}

void pack_u64(struct pack *pack, uint64_t value)
{
    pack_little(pack, value, 8);
}

void pack_f32(struct pack *pack, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    pack_little(pack, bits, 4);
}

void pack_f64(struct pack *pack, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pack_little(pack, bits, 8);
}

void pack_bytes(struct pack *pack, const void *bytes, size_t size)
{
    uint8_t *at = reserve(pack, size);
    if (at && size)
        memcpy(at, bytes, size);
}

void pack_text(struct pack *pack, const char *text)
{
    size_t length = strlen(text);
    if (length > UINT32_MAX) {
        pack->failed = true;
        return;
    }
    pack_u32(pack, (uint32_t)length);
    pack_bytes(pack, text, length);
}

void pack_clear(struct pack *pack)
{
    pack->size = 0;
    pack->failed = false;
}

void pack_free(struct pack *pack)
{
    mem_free(pack->data);
    *pack = (struct pack){0};
}

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

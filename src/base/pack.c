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

void pack_hash(struct pack *pack, struct hash hash)
{
    pack_u64(pack, hash.high);
    pack_u64(pack, hash.low);
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

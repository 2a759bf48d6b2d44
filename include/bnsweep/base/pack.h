/* Bytes with a fixed meaning on every machine: little-endian writing into a growing buffer (base/unpack.h reads them).
 * The first failure is remembered, so that a caller packs a whole message and checks once at the end. */
#ifndef BNSWEEP_BASE_PACK_H
#define BNSWEEP_BASE_PACK_H

#include "bnsweep/base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; free with pack_free. */
struct pack {
    uint8_t *data; /* owned */
    size_t size, capacity;
    bool failed; /* out of memory: what follows was not written */
};

void pack_u8(struct pack *pack, uint8_t value);
void pack_u32(struct pack *pack, uint32_t value);
void pack_u64(struct pack *pack, uint64_t value);
void pack_f32(struct pack *pack, float value);
void pack_f64(struct pack *pack, double value);
void pack_bytes(struct pack *pack, const void *bytes, size_t size);
/* 16 bytes: high, then low. */
void pack_hash(struct pack *pack, struct hash hash);
/* A u32 length, then the bytes without an ending zero. */
void pack_text(struct pack *pack, const char *text);
/* Empty the buffer, keep its memory. */
void pack_clear(struct pack *pack);
void pack_free(struct pack *pack);

#endif

/* Bytes with a fixed meaning on every machine: little-endian writing into a growing buffer, checked reading out of one.
 * Both remember the first failure, so that a caller packs or unpacks a whole message and checks once at the end. */
#ifndef BNSWEEP_BASE_PACK_H
#define BNSWEEP_BASE_PACK_H

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
/* A u32 length, then the bytes without an ending zero. */
void pack_text(struct pack *pack, const char *text);
/* Empty the buffer, keep its memory. */
void pack_clear(struct pack *pack);
void pack_free(struct pack *pack);

/* Reads `size` bytes at `data` (not owned). Past the end, values are 0 and `failed` is set. */
struct unpack {
    const uint8_t *data;
    size_t size, at;
    bool failed;
};

uint8_t unpack_u8(struct unpack *unpack);
uint32_t unpack_u32(struct unpack *unpack);
uint64_t unpack_u64(struct unpack *unpack);
float unpack_f32(struct unpack *unpack);
double unpack_f64(struct unpack *unpack);
/* Return the next `size` bytes, inside `data`; NULL, and `failed`, where there are fewer. */
const uint8_t *unpack_bytes(struct unpack *unpack, size_t size);
/* Copy a text and its ending zero into `out` of `capacity` bytes; `failed`, and "", where it does not fit or holds a zero byte. */
void unpack_text(struct unpack *unpack, char *out, size_t capacity);

#endif

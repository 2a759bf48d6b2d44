/* Checked reading of what base/pack.h wrote. The first failure is remembered, so that a caller unpacks a whole message and checks
 * once at the end. */
#ifndef BNSWEEP_BASE_UNPACK_H
#define BNSWEEP_BASE_UNPACK_H

#include "bnsweep/base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
struct hash unpack_hash(struct unpack *unpack);
/* Return the next `size` bytes, inside `data`; NULL, and `failed`, where there are fewer. */
const uint8_t *unpack_bytes(struct unpack *unpack, size_t size);
/* Copy a text and its ending zero into `out` of `capacity` bytes; `failed`, and "", where it does not fit or holds a zero byte. */
void unpack_text(struct unpack *unpack, char *out, size_t capacity);

#endif

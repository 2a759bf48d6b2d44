#include "bnsweep/core/rng.h"

#include <math.h>
#include <string.h>

#include <Random123/philox.h>

enum { CHUNK_BLOCKS = 256, CHUNK_WORDS = 4 * CHUNK_BLOCKS };

/* Loops that a compiler vectorises for whatever the processor has; nothing is fused, so all versions give the same bits. */
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VERSIONS
#endif

/* Philox4x32-10 (Salmon et al., 2011) with Random123's constants. Its own function takes one block at a time; here the ten rounds are the
 * inner loop, so that the blocks go into the lanes. */
VERSIONS static void philox(struct rng_stream stream, uint64_t first, size_t blocks, uint32_t *restrict words)
{
    for (size_t i = 0; i < blocks; i++) {
        uint64_t block = first + i;
        uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = (uint32_t)stream.index, c3 = (uint32_t)(stream.index >> 32);
        uint32_t k0 = stream.seed, k1 = (uint32_t)stream.purpose;
        for (int round = 0; round < 10; round++) {
            uint64_t p0 = (uint64_t)PHILOX_M4x32_0 * c0, p1 = (uint64_t)PHILOX_M4x32_1 * c2;
            c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
            c1 = (uint32_t)p1;
            c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
            c3 = (uint32_t)p0;
            k0 += PHILOX_W32_0;
            k1 += PHILOX_W32_1;
        }
        words[4 * i] = c0;
        words[4 * i + 1] = c1;
        words[4 * i + 2] = c2;
        words[4 * i + 3] = c3;
    }
}

void rng_words(struct rng_stream stream, uint64_t first, size_t blocks, uint32_t *words)
{
    philox(stream, first, blocks, words);
}

void rng_integers(struct rng_stream stream, uint32_t bound, size_t count, int32_t *out)
{
    uint32_t words[CHUNK_WORDS];
    for (size_t at = 0; at < count; at += CHUNK_WORDS) {
        size_t here = count - at < CHUNK_WORDS ? count - at : CHUNK_WORDS;
        rng_words(stream, at / 4, (here + 3) / 4, words);
        for (size_t i = 0; i < here; i++)
            out[at + i] = (int32_t)((uint64_t)words[i] * bound >> 32);
    }
}

void rng_uniform(struct rng_stream stream, double low, double high, uint64_t first, size_t count, float *out)
{
    uint32_t words[CHUNK_WORDS];
    for (size_t at = 0; at < count; at += CHUNK_WORDS) {
        size_t here = count - at < CHUNK_WORDS ? count - at : CHUNK_WORDS;
        rng_words(stream, (first + at) / 4, (here + 3) / 4, words);
        for (size_t i = 0; i < here; i++)
            out[at + i] = (float)(low + (high - low) * ((words[i] >> 8) * 0x1p-24));
    }
}

/* ln(u) for u in (0, 1]: u = 2^e m with m in [sqrt 1/2, sqrt 2), ln m = 2 atanh((m - 1) / (m + 1)) by its series.
 * Plain multiplications, additions and one division, so that every machine gives the same bits and a compiler can vectorise. */
static inline float log_unit(float u)
{
    uint32_t bits;
    memcpy(&bits, &u, sizeof bits);
    int32_t exponent = (int32_t)(bits - 0x3f3504f3u) >> 23; /* 0x3f3504f3 is sqrt(1/2) */
    bits -= (uint32_t)exponent << 23;
    float m;
    memcpy(&m, &bits, sizeof m);
    float s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    float series = 1.0f + s2 * (1.0f / 3 + s2 * (1.0f / 5 + s2 * (1.0f / 7 + s2 * (1.0f / 9))));
    return (float)exponent * 0.693147181f + 2.0f * s * series;
}

/* cos and sin of 2 pi t, t = word / 2^32: the nearest quarter turn is taken off exactly, the rest (|x| <= pi/4) by Taylor's series. */
static inline void cos_sin_turn(uint32_t word, float *cosine, float *sine)
{
    uint32_t quarter = (word + 0x20000000u) >> 30;
    float x = (float)(int32_t)(word - (quarter << 30)) * (float)(6.283185307179586 * 0x1p-32);
    float x2 = x * x;
    float s = x * (1.0f + x2 * (-1.0f / 6 + x2 * (1.0f / 120 + x2 * (-1.0f / 5040 + x2 * (1.0f / 362880)))));
    float c = 1.0f + x2 * (-0.5f + x2 * (1.0f / 24 + x2 * (-1.0f / 720 + x2 * (1.0f / 40320))));
    float swapped_c = quarter & 1 ? s : c, swapped_s = quarter & 1 ? c : s;
    *cosine = (quarter + 1) & 2 ? -swapped_c : swapped_c;
    *sine = quarter & 2 ? -swapped_s : swapped_s;
}

/* radius[i] = sqrt(-2 ln u) of words[2 i]. */
VERSIONS static void radii(size_t count, const uint32_t *restrict words, float *restrict radius)
{
    for (size_t i = 0; i < count; i++) {
        float u = ((float)words[2 * i] + 0.5f) * 0x1p-32f;
        radius[i] = sqrtf(-2.0f * log_unit(u)); /* u is at most 1, since 2^32 + 0.5 rounds to 2^32 */
    }
}

/* z[2 i], z[2 i + 1] = radius[i] times cosine and sine of words[2 i + 1]. */
VERSIONS static void turns(size_t count, const uint32_t *restrict words, const float *restrict radius, float *restrict z)
{
    for (size_t i = 0; i < count; i++) {
        float cosine, sine;
        cos_sin_turn(words[2 * i + 1], &cosine, &sine);
        z[2 * i] = radius[i] * cosine;
        z[2 * i + 1] = radius[i] * sine;
    }
}

void rng_normals(struct rng_stream stream, uint64_t first, size_t count, float *out)
{
    uint32_t words[CHUNK_WORDS];
    float radius[CHUNK_WORDS / 2], z[CHUNK_WORDS];
    for (size_t at = 0; at < count; at += CHUNK_WORDS) {
        size_t here = count - at < CHUNK_WORDS ? count - at : CHUNK_WORDS, blocks = (here + 3) / 4;
        rng_words(stream, (first + at) / 4, blocks, words);
        radii(2 * blocks, words, radius);
        turns(2 * blocks, words, radius, z);
        memcpy(out + at, z, here * sizeof *z);
    }
}

void rng_permutation(struct rng_stream stream, size_t count, uint32_t *out)
{
    uint32_t words[4];
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t draw = count - i;
        if (draw % 4 == 0)
            rng_words(stream, draw / 4, 1, words);
        size_t j = (size_t)((uint64_t)words[draw % 4] * i >> 32);
        uint32_t held = out[i - 1];
        out[i - 1] = out[j];
        out[j] = held;
    }
}

/* Random numbers as a pure function of (seed, purpose, index): Philox4x32-10 (Salmon et al. 2011, Random123).
 *
 * The key is {seed, purpose}, the counter {block, index}: no state, so any number can be had at any time, in any order,
 * on any rank. Block b of a stream gives the words 4b .. 4b+3. With key and counter 0 they are
 * 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (a published vector of Random123; tests/core/test_rng_words.c).
 */
#ifndef BNSWEEP_CORE_RNG_H
#define BNSWEEP_CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* What a stream is for. The numbers decide every random value: append, never renumber. */
enum rng_purpose {
    RNG_TEMPLATE = 1,   /* index 0: the classes' templates */
    RNG_VAL_LABEL = 2,  /* index 0 */
    RNG_VAL_NOISE = 3,  /* index 0 */
    RNG_BATCH_LABEL = 4, /* index: training step */
    RNG_BATCH_NOISE = 5, /* index: training step */
    RNG_REEST_LABEL = 6, /* index: number of the re-estimation batch */
    RNG_REEST_NOISE = 7, /* index: number of the re-estimation batch */
    RNG_SHUFFLE = 8,    /* index: epoch */
    RNG_REEST_SHUFFLE = 9, /* index: epoch */
    RNG_INIT = 10,      /* index: number of the parameter tensor */
    RNG_SWAP_ORDER = 11, /* index: training step of the check */
};

struct rng_stream {
    uint32_t seed;
    enum rng_purpose purpose;
    uint64_t index;
};

/* Fill words[4 * blocks] with the blocks first, first+1, ... of the stream. */
void rng_words(struct rng_stream stream, uint64_t first, size_t blocks, uint32_t *words);

/* Fill out[count] with independent integers in [0, bound); each value's probability is 1/bound to within 2^-32. */
void rng_integers(struct rng_stream stream, uint32_t bound, size_t count, int32_t *out);

/* Fill out[count] with the stream's uniform numbers from low up to high (which rounding may reach), number first, first + 1, ..., on a grid of 2^24 steps;
 * `first` is a multiple of 4. */
void rng_uniform(struct rng_stream stream, double low, double high, uint64_t first, size_t count, float *out);

/* Fill out[count] with the stream's standard normals number first, first + 1, ... (Box and Muller 1958; |z| < 6.8);
 * `first` is a multiple of 4. */
void rng_normals(struct rng_stream stream, uint64_t first, size_t count, float *out);

/* Fill out[count] with a random order of 0 .. count-1 (Fisher and Yates). */
void rng_permutation(struct rng_stream stream, size_t count, uint32_t *out);

#endif

/* Philox4x32-10 against the vectors that Random123 publishes (kat_vectors), and the streams made of it. */
#include "testing.h"

#include <stdlib.h>

#include "bnsweep/core/rng.h"

static void assert_block(uint32_t seed, uint32_t purpose, uint64_t index, uint64_t block, const uint32_t expected[4])
{
    uint32_t words[4];
    rng_words((struct rng_stream){seed, (enum rng_purpose)purpose, index}, block, 1, words);
    for (int i = 0; i < 4; i++)
        assert_true(words[i] == expected[i]);
}

static void published_vectors(void **state)
{
    (void)state;
    assert_block(0, 0, 0, 0, (const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    assert_block(UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX,
                 (const uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    /* counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0, low words first */
    assert_block(0xa4093822, 0x299f31d0, 0x0370734413198a2eu, 0x85a308d3243f6a88u,
                 (const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

static void blocks_can_be_had_from_anywhere(void **state)
{
    (void)state;
    struct rng_stream stream = {7, RNG_BATCH_NOISE, 1000000007};
    uint32_t whole[4 * 20], part[4 * 20];
    rng_words(stream, 0, 20, whole);
    for (uint64_t first = 0; first < 20; first++) {
        rng_words(stream, first, 20 - first, part);
        assert_memory_equal(part, whole + 4 * first, 16 * (20 - first));
    }
    /* across the counter's 32-bit words */
    rng_words(stream, UINT32_MAX - 1ull, 4, whole);
    for (uint64_t i = 0; i < 4; i++) {
        rng_words(stream, UINT32_MAX - 1ull + i, 1, part);
        assert_memory_equal(part, whole + 4 * i, 16);
    }
}

static int compare_words(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* No two of 16 seeds x 11 purposes x 16 indices x 4 blocks agree. */
static void streams_differ_by_seed_purpose_index_and_block(void **state)
{
    (void)state;
    static uint32_t words[16 * 11 * 16 * 4][4];
    size_t count = 0;
    for (uint32_t seed = 0; seed < 16; seed++)
        for (int purpose = RNG_TEMPLATE; purpose <= RNG_SWAP_ORDER; purpose++)
            for (uint64_t index = 0; index < 16; index++, count += 4)
                rng_words((struct rng_stream){seed, (enum rng_purpose)purpose, index << (index < 8 ? 0 : 32)}, 0, 4, words[count]);
    assert_int_equal(count, sizeof words / sizeof *words);
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 1; i < count; i++)
        if (!memcmp(words[i - 1], words[i], 16))
            fail_msg("two streams share a block");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(blocks_can_be_had_from_anywhere),
        cmocka_unit_test(streams_differ_by_seed_purpose_index_and_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

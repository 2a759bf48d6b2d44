/* Hashes name stored units: their values must be the same in every version and on every machine. */
#include "testing.h"

#include "bnsweep/base/hash.h"

static void assert_hex(struct hash hash, const char *expected)
{
    char hex[HASH_HEX_SIZE];
    hash_hex(hash, hex);
    assert_string_equal(hex, expected);
}

static void values_are_stable(void **state)
{
    (void)state;
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31);
    assert_hex(hash_bytes(NULL, 0), "99aa06d3014798d86001c324468d497f");
    assert_hex(hash_bytes("abc", 3), "06b05ab6733a618578af5f94892f3950");
    assert_hex(hash_bytes(bytes, sizeof bytes), "62b179b903bc3a072a7a65d13a1450eb");
    assert_hex(hash_combine(hash_bytes("a", 1), hash_bytes("b", 1)), "bb694b88d222fa489a0e579e52ed3646");
    assert_true(hash_checksum(NULL, 0, 0) == 0x2d06800538d394c2u);
    assert_true(hash_checksum("abc", 3, 0) == 0x78af5f94892f3950u);
    assert_true(hash_checksum(bytes, sizeof bytes, 12345) == 0x4ebf543946af82abu);
}

static void order_and_seed_matter(void **state)
{
    (void)state;
    struct hash a = hash_bytes("a", 1), b = hash_bytes("b", 1);
    assert_false(hash_equal(hash_combine(a, b), hash_combine(b, a)));
    assert_false(hash_equal(a, (struct hash){a.high, a.low + 1}));
    assert_false(hash_equal(a, (struct hash){a.high + 1, a.low}));
    assert_true(hash_equal(a, hash_bytes("a", 1)));
    assert_true(hash_checksum("abc", 3, 0) != hash_checksum("abc", 3, 1));
}

static void every_bit_matters(void **state)
{
    (void)state;
    uint8_t bytes[300] = {0};
    struct hash zero = hash_bytes(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(hash_equal(hash_bytes(bytes, sizeof bytes), zero));
        bytes[bit / 8] = 0;
    }
}

static void hex_goes_there_and_back(void **state)
{
    (void)state;
    struct hash hash = {0x00123456789abcdeu, 0xfedcba9876543210u}, back;
    assert_hex(hash, "00123456789abcdefedcba9876543210");
    assert_true(hash_from_hex("00123456789abcdefedcba9876543210", &back));
    assert_true(hash_equal(hash, back));
    const char *const bad[] = {"", "0", "00123456789abcdefedcba987654321", "00123456789abcdefedcba98765432100",
                               "00123456789ABCDEfedcba9876543210", "0x123456789abcdefedcba9876543210",
                               "-0123456789abcdefedcba9876543210", " 0123456789abcdefedcba9876543210",
                               "00123456789abcdefedcba987654321g"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(hash_from_hex(bad[i], &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_stable),
        cmocka_unit_test(order_and_seed_matter),
        cmocka_unit_test(every_bit_matters),
        cmocka_unit_test(hex_goes_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Packing and unpacking: the bytes are fixed, every value comes back, every truncation is noticed. */
#include "testing.h"

#include <math.h>

#include "bnsweep/base/pack.h"
#include "bnsweep/base/unpack.h"

static void bytes_are_little_endian(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0xab, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0,
                                       2, 0, 0, 0, 'h', 'i', 9, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0};
    struct pack pack = {0};
    pack_u8(&pack, 0xab);
    pack_u32(&pack, 0x01020304);
    pack_u64(&pack, 0x0102030405060708);
    pack_f32(&pack, 1.0f);
    pack_f64(&pack, -2.0);
    pack_text(&pack, "hi");
    pack_bytes(&pack, "\t\t", 2);
    pack_hash(&pack, (struct hash){1, 0x0200});
    assert_false(pack.failed);
    assert_int_equal(pack.size, sizeof expected);
    assert_memory_equal(pack.data, expected, sizeof expected);
    pack_free(&pack);
    assert_null(pack.data);
}

static void fill(struct pack *pack)
{
    pack_u8(pack, 255);
    pack_u32(pack, UINT32_MAX);
    pack_u64(pack, UINT64_MAX - 1);
    pack_f32(pack, NAN);
    pack_f64(pack, -INFINITY);
    pack_text(pack, "");
    pack_text(pack, "conv1.weight");
    pack_hash(pack, (struct hash){UINT64_MAX, 3});
    pack_bytes(pack, "\0\1\2", 3);
}

/* Read what fill wrote; true where nothing failed. */
static bool read_all(const uint8_t *data, size_t size)
{
    struct unpack unpack = {.data = data, .size = size};
    char empty[4], text[13];
    bool right = unpack_u8(&unpack) == 255;
    right &= unpack_u32(&unpack) == UINT32_MAX;
    right &= unpack_u64(&unpack) == UINT64_MAX - 1;
    right &= isnan(unpack_f32(&unpack)) != 0;
    right &= unpack_f64(&unpack) == -INFINITY;
    unpack_text(&unpack, empty, sizeof empty);
    unpack_text(&unpack, text, sizeof text);
    struct hash hash = unpack_hash(&unpack);
    right &= hash.high == UINT64_MAX && hash.low == 3;
    const uint8_t *bytes = unpack_bytes(&unpack, 3);
    assert_true(unpack.at <= size);
    if (unpack.failed)
        return false;
    assert_true(right && bytes && bytes[2] == 2 && unpack.at == size);
    assert_string_equal(empty, "");
    assert_string_equal(text, "conv1.weight");
    return true;
}

static void every_truncation_is_noticed(void **state)
{
    (void)state;
    struct pack pack = {0};
    fill(&pack);
    assert_true(read_all(pack.data, pack.size));
    for (size_t size = 0; size < pack.size; size++) {
        uint8_t *copy = test_malloc(size + !size); /* exact, so that a sanitizer sees a read past the end */
        memcpy(copy, pack.data, size);
        assert_false(read_all(copy, size));
        test_free(copy);
    }
    pack_free(&pack);
}

static void after_a_failure_everything_is_zero(void **state)
{
    (void)state;
    const uint8_t data[] = {1, 2, 3};
    struct unpack unpack = {.data = data, .size = sizeof data};
    assert_int_equal(unpack_u32(&unpack), 0);
    assert_true(unpack.failed);
    assert_int_equal(unpack_u8(&unpack), 0);
    assert_null(unpack_bytes(&unpack, 0));
}

static void texts_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct pack pack = {0};
    char out[5] = "xxxx";
    pack_text(&pack, "12345");
    struct unpack unpack = {.data = pack.data, .size = pack.size};
    unpack_text(&unpack, out, sizeof out);
    assert_true(unpack.failed);
    assert_string_equal(out, "");
    pack_clear(&pack);
    assert_int_equal(pack.size, 0);
    pack_text(&pack, "1234");
    unpack = (struct unpack){.data = pack.data, .size = pack.size};
    unpack_text(&unpack, out, sizeof out);
    assert_false(unpack.failed);
    assert_string_equal(out, "1234");
    pack_clear(&pack);
    pack_u32(&pack, 3);
    pack_bytes(&pack, "a\0b", 3);
    unpack = (struct unpack){.data = pack.data, .size = pack.size};
    unpack_text(&unpack, out, sizeof out);
    assert_true(unpack.failed);
    pack_clear(&pack);
    pack_u32(&pack, UINT32_MAX);
    unpack = (struct unpack){.data = pack.data, .size = pack.size};
    unpack_text(&unpack, out, sizeof out);
    assert_true(unpack.failed);
    pack_free(&pack);
}

static void growing_keeps_what_was_written(void **state)
{
    (void)state;
    struct pack pack = {0};
    for (uint32_t i = 0; i < 100000; i++)
        pack_u32(&pack, i * 2654435761u);
    assert_int_equal(pack.size, 400000);
    struct unpack unpack = {.data = pack.data, .size = pack.size};
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(unpack_u32(&unpack) == i * 2654435761u);
    pack_free(&pack);
}

static void an_impossible_size_fails_and_stays_failed(void **state)
{
    (void)state;
    struct pack pack = {0};
    pack_u8(&pack, 7);
    pack_bytes(&pack, NULL, SIZE_MAX);
    assert_true(pack.failed);
    pack_u8(&pack, 8);
    assert_int_equal(pack.size, 1);
    pack_clear(&pack);
    assert_false(pack.failed);
    pack_free(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_little_endian),
        cmocka_unit_test(every_truncation_is_noticed),
        cmocka_unit_test(after_a_failure_everything_is_zero),
        cmocka_unit_test(texts_that_do_not_fit_are_refused),
        cmocka_unit_test(growing_keeps_what_was_written),
        cmocka_unit_test(an_impossible_size_fails_and_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

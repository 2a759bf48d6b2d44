/* Checked allocation: overflow, zeroes, alignment, growth. */
#include "testing.h"

#include "bnsweep/base/mem.h"

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    size_t product = 6;
    assert_true(mem_multiply(&product, 7));
    assert_int_equal(product, 42);
    product = SIZE_MAX / 2 + 1;
    assert_false(mem_multiply(&product, 2));
    assert_true(product == SIZE_MAX / 2 + 1);
    assert_true(mem_multiply(&product, 0));
    assert_int_equal(product, 0);
    product = SIZE_MAX;
    assert_true(mem_multiply(&product, 1));
    assert_true(product == SIZE_MAX);
}

static void arrays_are_zeroed_and_aligned(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 3, 64, 65, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint8_t *bytes = mem_array(counts[i], 3);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        for (size_t j = 0; j < counts[i] * 3; j++)
            assert_int_equal(bytes[j], 0);
        memset(bytes, 0xff, counts[i] * 3); /* so that reused memory would show */
        mem_free(bytes);
    }
}

static void impossible_arrays_are_null_with_a_message(void **state)
{
    (void)state;
    status_fail(STATUS_OK, "none");
    assert_null(mem_array(SIZE_MAX, 2));
    assert_non_null(strstr(status_message(), "too large"));
    status_fail(STATUS_OK, "none");
    assert_null(mem_array(SIZE_MAX, 1)); /* the product fits, its padding does not */
    assert_non_null(strstr(status_message(), "too large"));
#if !defined(__SANITIZE_ADDRESS__)
    status_fail(STATUS_OK, "none");
    assert_null(mem_array(SIZE_MAX / 4, 1));
    assert_non_null(strstr(status_message(), "out of memory"));
#endif
}

static void growing_keeps_old_and_zeroes_new(void **state)
{
    (void)state;
    int *values = mem_grow(NULL, 0, 3, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < 3; i++)
        values[i] = i + 1;
    values = mem_grow(values, 3, 100, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < 100; i++)
        assert_int_equal(values[i], i < 3 ? i + 1 : 0);
    assert_null(mem_grow(values, 100, SIZE_MAX, sizeof *values));
    assert_int_equal(values[2], 3); /* untouched by the failure */
    values = mem_grow(values, 100, 2, sizeof *values);
    assert_int_equal(values[1], 2);
    mem_free(values);
}

static void texts_are_copied(void **state)
{
    (void)state;
    char text[] = "momentum";
    char *copy = mem_text(text);
    text[0] = 'x';
    assert_string_equal(copy, "momentum");
    mem_free(copy);
    copy = mem_text("");
    assert_string_equal(copy, "");
    mem_free(copy);
    mem_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(arrays_are_zeroed_and_aligned),
        cmocka_unit_test(impossible_arrays_are_null_with_a_message),
        cmocka_unit_test(growing_keeps_old_and_zeroes_new),
        cmocka_unit_test(texts_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

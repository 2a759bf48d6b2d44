/* Arenas: many allocations, one end. */
#include "testing.h"

#include "bnsweep/base/arena.h"

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena arena = {0};
    uint8_t *blocks[50];
    size_t total = 0;
    for (size_t i = 0; i < 50; i++) {
        blocks[i] = arena_array(&arena, i, 7);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        for (size_t j = 0; j < 7 * i; j++)
            assert_int_equal(blocks[i][j], 0);
        memset(blocks[i], (int)i + 1, 7 * i);
        total += 7 * i;
    }
    assert_int_equal(arena.bytes, total);
    for (size_t i = 0; i < 50; i++)
        for (size_t j = 0; j < 7 * i; j++)
            assert_int_equal(blocks[i][j], i + 1);
    arena_free(&arena);
}

static void an_overflow_leaves_the_arena_usable(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_non_null(arena_array(&arena, 4, 4));
    assert_null(arena_array(&arena, SIZE_MAX, 2));
    assert_non_null(strstr(status_message(), "too large"));
    assert_int_equal(arena.bytes, 16);
    assert_non_null(arena_array(&arena, 1, 1));
    arena_free(&arena);
}

static void a_freed_arena_is_empty_and_can_start_again(void **state)
{
    (void)state;
    struct arena arena = {0};
    arena_free(&arena);
    assert_non_null(arena_array(&arena, 10, 10));
    arena_free(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.bytes, 0);
    assert_non_null(arena_array(&arena, 1, 1));
    assert_int_equal(arena.bytes, 1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(an_overflow_leaves_the_arena_usable),
        cmocka_unit_test(a_freed_arena_is_empty_and_can_start_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

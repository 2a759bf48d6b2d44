/* Uniform numbers, integers and random orders. */
#include "numbers.h"

#include <stdbool.h>

#include "bnsweep/core/rng.h"

enum { COUNT = 200000 };

static const struct rng_stream stream = {11, RNG_INIT, 4};

static void uniform_numbers_fill_their_range(void **state)
{
    (void)state;
    static float u[COUNT];
    double bound = 1 / sqrt(27), sum = 0, square = 0, lowest = 1, highest = -1;
    rng_uniform(stream, -bound, bound, 0, COUNT, u);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true((double)u[i] >= (double)(float)-bound && (double)u[i] < bound);
        lowest = fmin(lowest, (double)u[i]);
        highest = numbers_larger(highest, (double)u[i]);
        sum += (double)u[i] / bound;
        square += (double)u[i] * (double)u[i] / (bound * bound);
    }
    assert_true(lowest < -0.9999 * bound && highest > 0.9999 * bound);
    assert_near(sum / COUNT, 0, 5 * sqrt(1.0 / 3 / COUNT));
    assert_near(square / COUNT, 1.0 / 3, 5 * sqrt(4.0 / 45 / COUNT));
}

static void uniform_numbers_come_from_the_words(void **state)
{
    (void)state;
    float u[9];
    uint32_t words[12];
    rng_words(stream, 0, 3, words);
    rng_uniform(stream, 0, 1, 0, 9, u);
    for (int i = 0; i < 9; i++)
        assert_true((double)u[i] == (words[i] >> 8) * 0x1p-24);
}

static void uniform_chunks_and_offsets_do_not_matter(void **state)
{
    (void)state;
    static float whole[4000], part[4000];
    rng_uniform(stream, -1, 1, 0, 4000, whole);
    for (size_t first = 0; first < 4000; first += 268) {
        rng_uniform(stream, -1, 1, first, 4000 - first, part);
        assert_memory_equal(part, whole + first, (4000 - first) * sizeof *part);
    }
}

static void integers_are_uniform(void **state)
{
    (void)state;
    static int32_t draws[COUNT];
    const uint32_t bounds[] = {1, 2, 3, 10, 1000};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        double counts[1000] = {0}, expected = (double)COUNT / bounds[b], chi2 = 0;
        rng_integers(stream, bounds[b], COUNT, draws);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(draws[i] >= 0 && (uint32_t)draws[i] < bounds[b]);
            counts[draws[i]]++;
        }
        for (uint32_t k = 0; k < bounds[b]; k++)
            chi2 += (counts[k] - expected) * (counts[k] - expected) / expected;
        assert_true(chi2 <= bounds[b] - 1 + 5 * sqrt(2.0 * bounds[b]));
    }
}

static void integers_do_not_depend_on_how_many(void **state)
{
    (void)state;
    int32_t many[3000], few[3000];
    rng_integers(stream, 1000, 3000, many);
    for (size_t count = 1; count <= 3000; count += 97) {
        rng_integers(stream, 1000, count, few);
        assert_memory_equal(few, many, count * sizeof *few);
    }
}

static void an_order_holds_each_number_once(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 2, 3, 7, 64, 5000};
    static uint32_t order[5000];
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        static bool seen[5000];
        memset(seen, 0, sizeof seen);
        rng_permutation(stream, counts[n], order);
        for (size_t i = 0; i < counts[n]; i++) {
            assert_true(order[i] < counts[n] && !seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

/* All 24 orders of 4 come up equally often. */
static void orders_are_uniform(void **state)
{
    (void)state;
    double counts[256] = {0}, chi2 = 0;
    enum { DRAWS = 24000 };
    int kinds = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint32_t order[4];
        rng_permutation((struct rng_stream){5, RNG_SHUFFLE, i}, 4, order);
        counts[order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6]++;
    }
    for (int i = 0; i < 256; i++) {
        kinds += counts[i] > 0;
        if (counts[i] > 0)
            chi2 += (counts[i] - DRAWS / 24) * (counts[i] - DRAWS / 24) / (DRAWS / 24);
    }
    assert_int_equal(kinds, 24);
    assert_true(chi2 < 23 + 5 * sqrt(46));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_numbers_fill_their_range),
        cmocka_unit_test(uniform_numbers_come_from_the_words),
        cmocka_unit_test(uniform_chunks_and_offsets_do_not_matter),
        cmocka_unit_test(integers_are_uniform),
        cmocka_unit_test(integers_do_not_depend_on_how_many),
        cmocka_unit_test(an_order_holds_each_number_once),
        cmocka_unit_test(orders_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

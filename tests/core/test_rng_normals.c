/* Standard normals: their moments and tails, and each against Box and Muller in double from the same words. */
#include "numbers.h"

#include "bnsweep/core/rng.h"

enum { COUNT = 1 << 20 };

static float z[COUNT];
static uint32_t words[COUNT];
static const struct rng_stream stream = {3, RNG_BATCH_NOISE, 12};

static void moments_to_the_fourth(void **state)
{
    (void)state;
    double sum[5] = {0};
    rng_normals(stream, 0, COUNT, z);
    for (size_t i = 0; i < COUNT; i++)
        for (int k = 1; k <= 4; k++)
            sum[k] += pow((double)z[i], k);
    /* five standard errors: var z^k = E z^2k - (E z^k)^2 = 1, 2, 15, 96 */
    double error = 5 / sqrt(COUNT);
    assert_near(sum[1] / COUNT, 0, error);
    assert_near(sum[2] / COUNT, 1, error * sqrt(2));
    assert_near(sum[3] / COUNT, 0, error * sqrt(15));
    assert_near(sum[4] / COUNT, 3, error * sqrt(96));
}

static void tails_hold_their_share(void **state)
{
    (void)state;
    rng_normals(stream, 0, COUNT, z);
    for (int limit = 0; limit <= 4; limit++) {
        double above = 0, below = 0, expected = erfc(limit / sqrt(2)) / 2 * COUNT;
        for (size_t i = 0; i < COUNT; i++) {
            above += z[i] > (float)limit;
            below += z[i] < (float)-limit;
        }
        assert_near(above, expected, 5 * sqrt(expected));
        assert_near(below, expected, 5 * sqrt(expected));
    }
}

static void neighbours_are_uncorrelated(void **state)
{
    (void)state;
    rng_normals(stream, 0, COUNT, z);
    for (size_t apart = 1; apart <= 8; apart++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i + apart < COUNT; i++) {
            sum += (double)z[i] * (double)z[i + apart];
            squares += ((double)z[i] * (double)z[i] - 1) * ((double)z[i + apart] * (double)z[i + apart] - 1);
        }
        assert_near(sum / COUNT, 0, 5 / sqrt(COUNT));
        assert_near(squares / COUNT, 0, 5 * 2 / sqrt(COUNT));
    }
}

/* A uniform number is a float: the radius is that of the rounded one, and the angle is exact. */
static void each_is_box_and_muller_of_its_words(void **state)
{
    (void)state;
    double worst = 0;
    rng_normals(stream, 0, COUNT, z);
    rng_words(stream, 0, COUNT / 4, words);
    for (size_t i = 0; i < COUNT; i += 2) {
        double u = (double)fminf(1.0f, ((float)words[i] + 0.5f) * 0x1p-32f);
        double radius = sqrt(-2 * log(u)), angle = 2 * acos(-1) * words[i + 1] * 0x1p-32;
        worst = numbers_larger(worst, fabs((double)z[i] - radius * cos(angle)));
        worst = numbers_larger(worst, fabs((double)z[i + 1] - radius * sin(angle)));
    }
    print_message("largest error of a normal: %g\n", worst);
    assert_true(worst < 2e-6);
}

static void none_is_out_of_range(void **state)
{
    (void)state;
    float largest = 0;
    for (uint64_t part = 0; part < 8; part++) {
        rng_normals(stream, part * COUNT, COUNT, z);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(isfinite(z[i]));
            largest = fmaxf(largest, fabsf(z[i]));
        }
    }
    assert_true(largest > 4.5f && largest < 6.8f);
}

static void chunks_and_offsets_do_not_matter(void **state)
{
    (void)state;
    enum { LENGTH = 5000 };
    static float whole[LENGTH], part[LENGTH];
    rng_normals(stream, 0, LENGTH, whole);
    for (size_t first = 0; first < LENGTH; first += 332) {
        for (size_t count = 1; count <= LENGTH - first && count <= 1200; count += 131) {
            memset(part, 0, sizeof part);
            rng_normals(stream, first, count, part);
            assert_memory_equal(part, whole + first, count * sizeof *part);
            assert_true(part[count < LENGTH ? count : 0] == 0 || count == LENGTH); /* nothing written past the end */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_to_the_fourth),
        cmocka_unit_test(tails_hold_their_share),
        cmocka_unit_test(neighbours_are_uncorrelated),
        cmocka_unit_test(each_is_box_and_muller_of_its_words),
        cmocka_unit_test(none_is_out_of_range),
        cmocka_unit_test(chunks_and_offsets_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

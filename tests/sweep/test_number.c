#include "fixture.h" /* cmocka */

#include "bnsweep/sweep/nearest.h"
#include "bnsweep/sweep/number.h"

#include <math.h>

static void whole_numbers(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_null(number_int("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    assert_null(number_int("-12", &value));
    assert_int_equal(value, -12);
    assert_null(number_int("007", &value));
    assert_int_equal(value, 7);
    static const char *const bad[] = {"", "-", "1.0", "1e3", "0x10", "12a", " 1", "1 ", "--1", "inf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(number_int(bad[i], &value), "is not a whole number");
    assert_string_equal(number_int("9223372036854775808", &value), "is too large");
    assert_int_equal(value, 7);
}

static void real_numbers(void **state)
{
    (void)state;
    double value = 1;
    assert_null(number_real("-0", &value));
    assert_true(value == 0 && !signbit(value));
    assert_null(number_real("1e-3", &value));
    assert_true(value == 0.001);
    static const char *const bad[] = {"", ".", "e5", "1e", "0x1p3", "inf", "nan", "1,5", "1 ", " 1", "1..2", "1-2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(number_real(bad[i], &value), "is not a number");
    assert_string_equal(number_real("1e999", &value), "is too large");
    assert_string_equal(number_real("1e-999", &value), "is too close to zero");
    assert_true(value == 0.001);
}

static void shortest_form(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{3e-3, "0.003"}, {3e-5, "3e-05"}, {0.1, "0.1"}, {1e4, "1e+04"}, {128, "128"}, {0.1 + 0.2, "0.30000000000000004"},
        {0, "0"}, {1e308, "1e+308"}};
    char text[NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        number_format(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Any finite double comes back as the same bits. */
static void round_trip(void **state)
{
    (void)state;
    uint64_t bits = 1;
    for (int i = 0; i < 100000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isnormal(value))
            continue;
        char text[NUMBER_SIZE];
        number_format(value, text);
        assert_null(number_real(text, &back));
        assert_memory_equal(&value, &back, sizeof value);
    }
}

/* Whatever was written before: the last numbers are kept. */
static void same_text_again(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static char texts[COUNT][NUMBER_SIZE];
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < COUNT; i++) {
            char text[NUMBER_SIZE];
            double back, value = (turn == 1 ? COUNT - 1 - i : i) / 7.0;
            int at = (int)(value * 7 + 0.5);
            number_format(value, text);
            assert_null(number_real(text, &back));
            assert_true(back == value);
            if (turn == 0)
                memcpy(texts[at], text, sizeof text);
            assert_string_equal(text, texts[at]);
        }
    char zero[NUMBER_SIZE], minus[NUMBER_SIZE];
    number_format(0.0, zero);
    number_format(-0.0, minus);
    assert_string_equal(zero, "0");
    assert_string_equal(minus, "-0");
}

static void whole_numbers_written(void **state)
{
    (void)state;
    const int64_t edges[] = {0, 9, 10, -1, -10, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    char text[NUMBER_SIZE], expected[NUMBER_SIZE];
    uint64_t bits = 1;
    for (size_t i = 0; i < 10000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        int64_t value = i < sizeof edges / sizeof *edges ? edges[i] : (int64_t)bits >> bits % 64;
        number_format_int(value, text);
        snprintf(expected, sizeof expected, "%lld", (long long)value);
        assert_string_equal(text, expected);
    }
}

static void rounding(void **state)
{
    (void)state;
    assert_true(number_round(0.1 + 0.2, 12) == 0.3);
    assert_true(number_round(3.16227766e-4, 6) == 3.16228e-4);
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("", ""), 0);
    assert_int_equal(nearest_distance("abc", ""), 3);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
    assert_int_equal(nearest_distance("momentmu", "momentum"), 1);
    assert_int_equal(nearest_distance("LR", "lr"), 0);
    static const char *const names[] = {"momentum", "bn_momentum", "lr"};
    assert_string_equal(nearest_name("bnmomentum", names, 3), "bn_momentum");
    assert_null(nearest_name("x", names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(real_numbers),
        cmocka_unit_test(shortest_form),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(same_text_again),
        cmocka_unit_test(whole_numbers_written),
        cmocka_unit_test(rounding),
        cmocka_unit_test(distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

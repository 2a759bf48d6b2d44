#include "fixture.h"

#include "bnsweep/sweep/axis.h"

/* Parse and join the canonical values with blanks. */
static void expect(int key, const char *text, const char *values)
{
    struct axis axis = {0};
    if (axis_parse(key, text, &axis))
        fail_msg("'%s' refused: %s", text, status_message());
    char joined[4096] = "", value[SETTINGS_VALUE_SIZE];
    for (size_t i = 0; i < axis.count; i++) {
        axis_format(&axis, i, value);
        if (i)
            strcat(joined, " ");
        strncat(joined, value, sizeof joined - strlen(joined) - 2);
    }
    assert_string_equal(joined, values);
    axis_free(&axis);
}

static void refuse(int key, const char *text, const char *message)
{
    struct axis axis = {0};
    enum status status = axis_parse(key, text, &axis);
    axis_free(&axis);
    if (status != STATUS_INPUT || !strstr(status_message(), message))
        fail_msg("'%s': %s: %s\nexpected %s", text, status_name(status), status_message(), message);
}

static void lists(void **state)
{
    (void)state;
    expect(SETTING_lr, "1e-3", "0.001");
    expect(SETTING_lr, "1e-3 ,3e-4,\t0.1", "0.001 0.0003 0.1");
    expect(SETTING_optimizer, "sgd, adam", "sgd adam");
    expect(SETTING_nesterov, "yes,no", "yes no");
    expect(SETTING_freeze, "none, conv1-linear", "none conv1-linear");
    expect(SETTING_task_seed, "per-seed, 5", "per-seed 5");
    expect(SETTING_init, "../a.h5, default", "../a.h5 default");
    refuse(SETTING_lr, "1,,2", "an empty item between commas");
    refuse(SETTING_lr, "1,", "an empty item between commas");
    refuse(SETTING_lr, "", "is empty");
    refuse(SETTING_optimizer, "sgd, adm", "'adm' is none of the choices");
}

/* In [measure] a comma makes one value. */
static void measure_lists(void **state)
{
    (void)state;
    expect(SETTING_reest_batches, "200, 50", "50,200");
    refuse(SETTING_first_check, "1,2", "is not a whole number");
    refuse(SETTING_first_check, "1..2", "is not a whole number");
}

static void ranges(void **state)
{
    (void)state;
    expect(SETTING_seed, "0..9", "0 1 2 3 4 5 6 7 8 9");
    expect(SETTING_seed, "3..3", "3");
    expect(SETTING_seed, "0..90:10", "0 10 20 30 40 50 60 70 80 90");
    expect(SETTING_seed, "0 .. 9 : 4", "0 4 8");
    expect(SETTING_seed, "7, 0..2, 100", "7 0 1 2 100");
    expect(SETTING_task_seed, "0..2", "0 1 2");
    expect(SETTING_lr, "0.1..0.9:0.1", "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9");
    expect(SETTING_lr, "1e-4..1e-2 log 5", "0.0001 0.000316228 0.001 0.00316228 0.01");
    expect(SETTING_lr, "1e-3..1e-3 log 2", "0.001 0.001");
    expect(SETTING_steps, "100..10000 log 3", "100 1000 10000");
    expect(SETTING_seed, "4294967294..4294967295", "4294967294 4294967295");
}

static void bad_ranges(void **state)
{
    (void)state;
    refuse(SETTING_seed, "9..0", "range '9..0': the range goes backwards, from 9 to 0; write the smaller value first");
    refuse(SETTING_seed, "0..9:0", "step '0' leads nowhere; allowed: a whole number, > 0");
    refuse(SETTING_seed, "0..9:-1", "step '-1' leads nowhere");
    refuse(SETTING_seed, "0..9:1.5", "step '1.5' leads nowhere");
    refuse(SETTING_lr, "0..1:0", "step '0' leads nowhere; allowed: a number, > 0");
    refuse(SETTING_lr, "0..1:1e-300", "more than 10000000 values");
    refuse(SETTING_lr, "0..1:x", "step 'x' is not a number");
    refuse(SETTING_lr, "0..1", "the range has no step; allowed ranges: A..B for whole numbers, A..B:STEP, A..B log N");
    refuse(SETTING_lr, "0..1 log 5", "a log range from 0; allowed: from a number, > 0");
    refuse(SETTING_lr, "0.1..1 log 1", "'1' points; allowed: a whole number, 2..10000000");
    refuse(SETTING_lr, "0.1..1 log 20000000", "points; allowed");
    refuse(SETTING_lr, "0.1..1 lin 5", "the range has no step");
    refuse(SETTING_lr, "..1:1", "is empty");
    refuse(SETTING_lr, "1..:1", "is empty");
    refuse(SETTING_lr, "1..inf:1", "'inf' is not a number");
    refuse(SETTING_seed, "0..4294967296", "'4294967296' is out of range");
    refuse(SETTING_seed, "0..4294967295", "more than 10000000 values");
    refuse(SETTING_seed, "0..9999999,0..9", "more than 10000000 values");
    refuse(SETTING_task_seed, "per-seed..5", "is not a number");
    refuse(SETTING_beta1, "0.5..1:0.1", "'1' is out of range");
}

/* The union keeps the order of first appearance. */
static void merge(void **state)
{
    (void)state;
    struct axis into = {0}, from = {0};
    assert_int_equal(axis_parse(SETTING_seed, "5,1,3", &into), STATUS_OK);
    assert_int_equal(axis_parse(SETTING_seed, "0..4", &from), STATUS_OK);
    assert_int_equal(axis_merge(&into, &from), STATUS_OK);
    static const int64_t expected[] = {5, 1, 3, 0, 2, 4};
    assert_int_equal(into.count, 6);
    assert_memory_equal(into.values, expected, sizeof expected);
    axis_free(&into);
    axis_free(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(measure_lists),
        cmocka_unit_test(ranges),
        cmocka_unit_test(bad_ranges),
        cmocka_unit_test(merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

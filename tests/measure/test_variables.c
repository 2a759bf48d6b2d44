/* The table of variables: every record is tiled exactly, whatever the lengths of the axes. */
#include "testing.h"

#include <stdlib.h>

#include "bnsweep/measure/plan.h"
#include "bnsweep/measure/variables.h"

static void assert_tiled(const struct variables_extent *extent)
{
    for (int group = 0; group < GROUP_COUNT; group++) {
        size_t size = variables_record_size((enum variable_group)group, extent);
        unsigned char *covered = calloc(size + 1, 1);
        for (int id = 0; id < VARIABLE_COUNT; id++) {
            if (variables_table[id].group != (enum variable_group)group)
                continue;
            size_t offset = variables_offset((enum variable_id)id, extent), length = variables_size((enum variable_id)id, extent);
            assert_true(offset + length <= size);
            for (size_t j = 0; j < length; j++)
                assert_int_equal(covered[offset + j]++, 0);
        }
        for (size_t j = 0; j < size; j++)
            assert_int_equal(covered[j], 1);
        free(covered);
    }
}

static void records_are_covered_once(void **state)
{
    (void)state;
    const struct variables_extent extents[] = {
        {.checks = 41, .samples = 600, .channels = 160, .layers = 3, .reests = 4, .orders = 3, .ks = 9, .emas = 2,
         .steps = 6000, .parameters = 57000},
        {.checks = 1, .channels = 1, .layers = 1},
        {0},
    };
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        assert_tiled(&extents[i]);
        assert_int_equal(variables_record_count(GROUP_UNIT, &extents[i]), 1);
        assert_int_equal(variables_record_count(GROUP_CHECK, &extents[i]), extents[i].checks);
        assert_int_equal(variables_record_count(GROUP_TRACE, &extents[i]), extents[i].samples);
        assert_int_equal(variables_record_count(GROUP_STEP, &extents[i]), extents[i].steps);
        assert_int_equal(variables_record_count(GROUP_WEIGHTS, &extents[i]), extents[i].parameters ? extents[i].checks : 0);
    }
}

static void sizes_follow_the_axes(void **state)
{
    (void)state;
    struct variables_extent e = {
        .checks = 2, .samples = 3, .channels = 5, .layers = 7, .reests = 11, .orders = 13, .ks = 17, .emas = 19, .steps = 23,
        .parameters = 29};
    assert_int_equal(variables_size(VARIABLE_loss, &e), 1);
    assert_int_equal(variables_size(VARIABLE_angle, &e), 5);
    assert_int_equal(variables_size(VARIABLE_acc_swap_layer, &e), 7);
    assert_int_equal(variables_size(VARIABLE_acc_reest, &e), 11);
    assert_int_equal(variables_size(VARIABLE_acc_swap_top, &e), 13 * 17);
    assert_int_equal(variables_size(VARIABLE_acc_ema, &e), 19);
    assert_int_equal(variables_record_size(GROUP_UNIT, &e), 5);
    assert_int_equal(variables_record_size(GROUP_TRACE, &e), 5);
    assert_int_equal(variables_record_size(GROUP_STEP, &e), 2 * 5);
    assert_int_equal(variables_record_size(GROUP_WEIGHTS, &e), 29);
    assert_true(variables_kept(GROUP_STEP) && variables_kept(GROUP_WEIGHTS) && !variables_kept(GROUP_TRACE));
    assert_true(variables_double(GROUP_STEP) && !variables_double(GROUP_WEIGHTS));
}

static void every_entry_is_complete_and_named_once(void **state)
{
    (void)state;
    for (int i = 0; i < VARIABLE_COUNT; i++) {
        assert_true(*variables_table[i].name && *variables_table[i].units && *variables_table[i].long_name);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(variables_table[i].name, variables_table[j].name);
    }
    assert_string_equal(variables_table[VARIABLE_mean_lag].name, "mean_lag");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_covered_once),
        cmocka_unit_test(sizes_follow_the_axes),
        cmocka_unit_test(every_entry_is_complete_and_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

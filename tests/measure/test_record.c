/* Records: there and back, every truncation, every wrong byte answered with a status and never with a crash. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "bnsweep/measure/record.h"

static float values[5] = {1.5f, -0.0f, 1e-45f, 3e38f, -7};

static struct record values_record(void)
{
    return (struct record){.kind = RECORD_VALUES, .group = GROUP_TRACE, .index = 123456, .count = 5, .values = values};
}

static struct record end_record(void)
{
    return (struct record){.kind = RECORD_END, .outcome = RECORD_DIVERGED, .steps = 6000000000, .seconds = 12.25,
                           .weights_init = {1, 2}, .weights_final = {3, UINT64_MAX}, .statistics_final = {5, 6},
                           .applied = "bn_momentum = 0.03\nlr = 0.003\n"};
}

static void values_go_there_and_back(void **state)
{
    (void)state;
    struct record record = values_record(), back;
    struct pack pack = {0};
    values[1] = NAN;
    assert_ok(record_pack(&record, &pack));
    assert_ok(record_unpack(pack.data, pack.size, &back));
    assert_int_equal(back.kind, RECORD_VALUES);
    assert_int_equal(back.group, GROUP_TRACE);
    assert_int_equal(back.index, 123456);
    assert_int_equal(back.count, 5);
    assert_memory_equal(back.values, values, sizeof values);
    record_free(&back);
    assert_null(back.values);
    record_free(&back); /* again: nothing left */
    pack_free(&pack);
}

static void doubles_go_there_and_back(void **state)
{
    (void)state;
    double doubles[4] = {1.0 / 3, -0.0, 5e-324, NAN};
    struct record record = {.kind = RECORD_VALUES, .group = GROUP_STEP, .index = 7, .count = 4, .doubles = doubles}, back;
    struct pack pack = {0};
    assert_ok(record_pack(&record, &pack));
    assert_ok(record_unpack(pack.data, pack.size, &back));
    assert_true(back.group == GROUP_STEP && back.index == 7 && back.count == 4);
    assert_null(back.values);
    assert_memory_equal(back.doubles, doubles, sizeof doubles);
    assert_true(record_is_kept(pack.data, pack.size) && !record_is_kept(pack.data, 1) && !record_is_end(pack.data, pack.size));
    record_free(&back);
    assert_null(back.doubles);
    record = values_record();
    pack_clear(&pack);
    assert_ok(record_pack(&record, &pack));
    assert_false(record_is_kept(pack.data, pack.size));
    pack_free(&pack);
}

static void ends_go_there_and_back(void **state)
{
    (void)state;
    struct record record = end_record(), back;
    struct pack pack = {0};
    assert_ok(record_pack(&record, &pack));
    assert_ok(record_unpack(pack.data, pack.size, &back));
    assert_int_equal(back.kind, RECORD_END);
    assert_int_equal(back.outcome, RECORD_DIVERGED);
    assert_true(back.steps == 6000000000 && back.seconds == 12.25);
    assert_true(hash_equal(back.weights_init, record.weights_init) && hash_equal(back.weights_final, record.weights_final) &&
                hash_equal(back.statistics_final, record.statistics_final));
    assert_string_equal(back.applied, record.applied);
    assert_null(back.values);
    record_free(&back);
    pack_free(&pack);
}

static void an_empty_record_is_one(void **state)
{
    (void)state;
    struct record record = {.kind = RECORD_VALUES, .group = GROUP_UNIT}, back;
    struct pack pack = {0};
    assert_ok(record_pack(&record, &pack));
    assert_ok(record_unpack(pack.data, pack.size, &back));
    assert_int_equal(back.count, 0);
    record_free(&back);
    pack_free(&pack);
}

/* Unpack exactly `size` bytes from memory that ends there. */
static enum status unpack_copy(const uint8_t *data, size_t size)
{
    struct record out;
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, data, size);
    enum status status = record_unpack(copy, size, &out);
    record_free(&out);
    free(copy);
    return status;
}

static void every_truncation_and_extension_is_corrupt(void **state)
{
    (void)state;
    double doubles[2] = {1, 2};
    const struct record kept = {.kind = RECORD_VALUES, .group = GROUP_STEP, .count = 2, .doubles = doubles};
    const struct record records[] = {values_record(), end_record(), kept};
    for (size_t i = 0; i < 3; i++) {
        struct pack pack = {0};
        assert_ok(record_pack(&records[i], &pack));
        for (size_t size = 0; size < pack.size; size++)
            assert_int_equal(unpack_copy(pack.data, size), STATUS_CORRUPT);
        pack_u8(&pack, 0);
        assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
        pack_free(&pack);
    }
}

static void impossible_contents_are_corrupt(void **state)
{
    (void)state;
    struct record record = values_record(), end = end_record();
    struct pack pack = {0};
    assert_ok(record_pack(&record, &pack));
    pack.data[0] = 3;
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
    assert_non_null(strstr(status_message(), "unknown kind 3"));
    pack.data[0] = RECORD_VALUES;
    pack.data[1] = GROUP_COUNT;
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
    pack.data[1] = GROUP_CHECK;
    memset(pack.data + 6, 0xff, 4); /* the count: no 16 GB are asked for */
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
    pack_clear(&pack);
    assert_ok(record_pack(&end, &pack));
    pack.data[1] = RECORD_DIVERGED + 1;
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
    pack.data[1] = RECORD_DONE;
    pack.data[pack.size - 3] = 0; /* a text with a zero byte */
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
    pack_free(&pack);
}

/* Random bytes, and records with random bytes changed: a status, no crash, no leak. */
static void garbage_is_survived(void **state)
{
    (void)state;
    struct record record = end_record();
    struct pack pack = {0};
    uint8_t bytes[600];
    size_t corrupt = 0;
    srand(1);
    assert_ok(record_pack(&record, &pack));
    for (int trial = 0; trial < 20000; trial++) {
        size_t size = (size_t)rand() % sizeof bytes;
        if (trial % 2) {
            size = pack.size;
            memcpy(bytes, pack.data, size);
            for (int changes = rand() % 4; changes >= 0; changes--)
                bytes[(size_t)rand() % size] = (uint8_t)rand();
        } else {
            for (size_t i = 0; i < size; i++)
                bytes[i] = (uint8_t)rand();
            if (size)
                bytes[0] = (uint8_t)(1 + rand() % 2);
        }
        enum status status = unpack_copy(bytes, size);
        assert_true(status == STATUS_OK || status == STATUS_CORRUPT);
        corrupt += status == STATUS_CORRUPT;
    }
    assert_true(corrupt > 10000);
    pack_free(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_there_and_back),
        cmocka_unit_test(doubles_go_there_and_back),
        cmocka_unit_test(ends_go_there_and_back),
        cmocka_unit_test(an_empty_record_is_one),
        cmocka_unit_test(every_truncation_and_extension_is_corrupt),
        cmocka_unit_test(impossible_contents_are_corrupt),
        cmocka_unit_test(garbage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

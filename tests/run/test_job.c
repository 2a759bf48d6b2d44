/* Jobs: there and back, every truncation, and bytes that make no job. */
#include "testing.h"

#include <stdlib.h>

#include "bnsweep/run/job.h"
#include "bnsweep/sweep/settings_text.h"

static struct job example(void)
{
    struct job job = {.count = 3,
                      .rows = {7, 0, UINT32_MAX},
                      .momenta = {0.03, 0.1, 1},
                      .key = {11, 12},
                      .state = "/scratch/a b/state",
                      .state_every = 60,
                      .checks = 4, .samples = 5, .steps = 6, .parameters = 7, .replay = true, .source = 8, .store = "/scratch/a b/s.h5"};
    settings_defaults(&job.settings);
    strcpy(job.settings.name, "window");
    job.settings.steps = 6000;
    job.settings.lr = 0.003;
    job.settings.optimizer = OPTIM_ADAM;
    return job;
}

static void jobs_go_there_and_back(void **state)
{
    (void)state;
    struct job job = example(), back;
    struct pack pack = {0};
    assert_ok(job_pack(&job, &pack));
    assert_ok(job_unpack(pack.data, pack.size, &back));
    assert_int_equal(back.count, 3);
    assert_memory_equal(back.rows, job.rows, 3 * sizeof *job.rows);
    assert_memory_equal(back.momenta, job.momenta, 3 * sizeof *job.momenta);
    assert_true(hash_equal(back.key, job.key) && back.state_every == 60);
    assert_string_equal(back.state, job.state);
    assert_true(back.checks == 4 && back.samples == 5 && back.steps == 6 && back.parameters == 7 && back.replay && back.source == 8);
    assert_string_equal(back.store, job.store);
    for (int key = 0; key < SETTINGS_COUNT; key++)
        assert_true(settings_same(&back.settings, &job.settings, key));
    pack_free(&pack);
}

static enum status unpack_copy(const uint8_t *data, size_t size)
{
    static struct job out;
    uint8_t *copy = malloc(size + !size); /* exact, so that a sanitizer sees a read past the end */
    memcpy(copy, data, size);
    enum status status = job_unpack(copy, size, &out);
    free(copy);
    return status;
}

static void every_truncation_and_extension_is_corrupt(void **state)
{
    (void)state;
    struct job job = example();
    struct pack pack = {0};
    assert_ok(job_pack(&job, &pack));
    for (size_t size = 0; size < pack.size; size++)
        assert_int_equal(unpack_copy(pack.data, size), STATUS_CORRUPT);
    pack_u8(&pack, 0);
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
    pack_free(&pack);
}

static void impossible_counts_are_corrupt(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, TRAJECTORY_MAX_MOMENTA + 1, UINT32_MAX};
    struct job job = example();
    struct pack pack = {0};
    assert_ok(job_pack(&job, &pack));
    for (size_t i = 0; i < 3; i++) {
        for (int byte = 0; byte < 4; byte++)
            pack.data[byte] = (uint8_t)(counts[i] >> 8 * byte);
        assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_CORRUPT);
        assert_non_null(strstr(status_message(), "from 1 to 64 are possible"));
    }
    pack_free(&pack);
}

static void settings_that_are_not_valid_are_named(void **state)
{
    (void)state;
    struct job job = example();
    struct pack pack = {0};
    job.settings.steps = 0;
    assert_ok(job_pack(&job, &pack));
    assert_int_equal(unpack_copy(pack.data, pack.size), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "job: "));
    assert_non_null(strstr(status_message(), "steps"));
    pack_free(&pack);
}

/* Any one byte changed: a job or a status, no crash. */
static void garbage_is_survived(void **state)
{
    (void)state;
    struct job job = example();
    struct pack pack = {0};
    size_t refused = 0;
    assert_ok(job_pack(&job, &pack));
    for (size_t i = 0; i < pack.size; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            pack.data[i] ^= (uint8_t)(1 << bit);
            enum status status = unpack_copy(pack.data, pack.size);
            assert_true(status == STATUS_OK || status == STATUS_CORRUPT || status == STATUS_INPUT);
            refused += status != STATUS_OK;
            pack.data[i] ^= (uint8_t)(1 << bit);
        }
    assert_true(refused > pack.size);
    pack_free(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_go_there_and_back),
        cmocka_unit_test(every_truncation_and_extension_is_corrupt),
        cmocka_unit_test(impossible_counts_are_corrupt),
        cmocka_unit_test(settings_that_are_not_valid_are_named),
        cmocka_unit_test(garbage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

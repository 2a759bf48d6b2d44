/* Damaged sweep files are refused or read, and never crash; a refusal names the file. */
#include "fixture.h"

static const char text[] =
    "; a sweep\n[sweep]\nname = fuzz\n[task]\nnoise = 0.5\n[network]\nchannels = 16-32\nnorm = group\ngroups = 8\n"
    "[train]\nsteps = 6000\nbatch = 16,32\nlr = 1e-4..1e-2 log 5\nfreeze = conv1-linear\nfreeze_from = 5\n"
    "[measure]\nreest_batches = 50,200\nema = last\nema_decays = 0.9,0.99\n[grid]\nseed = 0..90:10\n"
    "[arm sgd]\noptimizer = sgd\nmomentum = 0.9\n[arm adamw]\noptimizer = adamw\nweight_decay = 0.05 ; decoupled\n";

static int loads(const char *bytes, size_t size)
{
    struct sweep sweep = {0};
    const char *path = fixture_bytes("sweep.ini", bytes, size);
    enum status status = sweep_load(path, NULL, 0, &sweep);
    if (status && (status != STATUS_INPUT || strncmp(status_message(), path, strlen(path)) != 0))
        fail_msg("%s: %s", status_name(status), status_message());
    if (!status)
        assert_in_range(sweep.unit_count, 1, GRID_MAX_UNITS);
    sweep_free(&sweep);
    return status == STATUS_OK;
}

static void truncations(void **state)
{
    (void)state;
    assert_true(loads(text, sizeof text - 1));
    assert_false(loads(text, 0));
    int good = 0;
    for (size_t size = 0; size < sizeof text; size++)
        good += loads(text, size);
    assert_in_range(good, 1, 60);
}

static void mutations(void **state)
{
    (void)state;
    uint64_t random = 12345;
    int good = 0;
    for (int i = 0; i < 2000; i++) {
        char bytes[sizeof text];
        memcpy(bytes, text, sizeof text);
        random = random * 6364136223846793005u + 1442695040888963407u;
        bytes[(random >> 40) % (sizeof text - 1)] = (char)(random >> 32);
        good += loads(bytes, sizeof text - 1);
    }
    assert_in_range(good, 50, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(truncations), cmocka_unit_test(mutations)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

#include "fixture.h"

#include "bnsweep/sweep/grouping.h"

static void expect(const struct sweep *sweep, const size_t *units, size_t count, size_t most, const char *expected)
{
    struct grouping groups = {0};
    assert_int_equal(grouping_make(sweep, units, count, most, &groups), STATUS_OK);
    char found[1000] = "";
    for (size_t i = 0; i < groups.count; i++)
        for (size_t j = groups.starts[i]; j < groups.starts[i + 1]; j++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%zu%s", groups.units[j],
                j + 1 < groups.starts[i + 1] ? "+" : " ");
    assert_string_equal(found, expected);
    grouping_free(&groups);
}

/* Units 0..5: batch, momentum 0.1 0.03 with seeds 0 1 2; 6..7: batchrenorm, two momenta; 8: long. */
static const char text[] = "[sweep]\nname = s\n[train]\noptimizer = adam\nlr = 1e-3\n"
                           "[arm batch]\nsteps = 6000\nbn_momentum = 0.1,0.03\nseed = 0..2\n"
                           "[arm renorm]\nsteps = 6000\nnorm = batchrenorm\nbn_momentum = 0.1,0.03\n"
                           "[arm long]\nsteps = 9000\n";

static void groups(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_load(text, &sweep);
    assert_int_equal(sweep.unit_count, 9);
    static const size_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, some[] = {4, 2, 8, 1};
    expect(&sweep, all, 9, 64, "8 0+3 1+4 2+5 6 7 ");
    expect(&sweep, all, 9, 1, "8 0 1 2 3 4 5 6 7 ");
    expect(&sweep, some, 4, 64, "8 4+1 2 ");
    expect(&sweep, some, 0, 64, "");
    struct grouping bad = {0};
    assert_int_equal(grouping_make(&sweep, (const size_t[]){9}, 1, 1, &bad), STATUS_INPUT);
    grouping_free(&bad);
    sweep_free(&sweep);
}

/* More units than a trajectory may hold make several. */
static void capped(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_load(FIXTURE_HEAD "bn_momentum = 0.1..0.5:0.1\n", &sweep);
    static const size_t all[] = {0, 1, 2, 3, 4};
    expect(&sweep, all, 5, 2, "0+1 2+3 4 ");
    expect(&sweep, all, 5, 5, "0+1+2+3+4 ");
    sweep_free(&sweep);
}

/* Units share where they differ in momentum alone, whoever gives the momenta: an axis, or arms with one each. */
static void momenta_of_arms(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    static const size_t all[] = {0, 1, 2, 3};
    fixture_load(FIXTURE_HEAD "[grid]\nseed = 0..1\n[arm a]\nbn_momentum = 0.1\n[arm b]\nbn_momentum = 0.3\n", &sweep);
    expect(&sweep, all, 4, 64, "0+2 1+3 ");
    expect(&sweep, all, 2, 64, "0 1 ");
    sweep_free(&sweep);
    fixture_load(FIXTURE_HEAD "[grid]\nseed = 0..1\n[arm a]\nweight_decay = 1e-4\n[arm b]\nsteps = 9000\n", &sweep);
    expect(&sweep, all, 4, 64, "2 3 0 1 ");
    struct grouping groups = {0};
    struct settings settings;
    assert_int_equal(grouping_make(&sweep, all, 4, 64, &groups), STATUS_OK);
    for (size_t i = 0; i < groups.count; i++) {
        assert_int_equal(sweep_unit(&sweep, groups.units[groups.starts[i]], &settings, NULL), STATUS_OK);
        assert_true(groups.work[i] == grouping_work(&settings));
    }
    grouping_free(&groups);
    sweep_free(&sweep);
}

static void work(void **state)
{
    (void)state;
    struct settings s;
    settings_defaults(&s);
    s.steps = 10;
    double expected = 9.0 * (3 * 32 * 32 * 32 + 32 * 64 * 16 * 16 + 64 * 64 * 8 * 8) * 128 * 10;
    assert_true(grouping_work(&s) == expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups), cmocka_unit_test(capped), cmocka_unit_test(momenta_of_arms), cmocka_unit_test(work)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

#include "fixture.h"

#include "bnsweep/sweep/identity.h"

/* Load a sweep and return the identity of unit `index`. */
static struct hash identity_in(const char *text, size_t index)
{
    struct sweep sweep = {0};
    struct settings settings;
    fixture_load(text, &sweep);
    assert_int_equal(sweep_unit(&sweep, index, &settings, NULL), STATUS_OK);
    sweep_free(&sweep);
    return identity_of(&settings);
}

static void expect_hex(struct hash hash, const char *expected)
{
    char hex[HASH_HEX_SIZE];
    hash_hex(hash, hex);
    assert_string_equal(hex, expected);
}

/* Stores in the field hold these: where one changes, every old store trains anew. Then IDENTITY_NUMERICS_VERSION must have been
 * raised. */
static void pinned(void **state)
{
    (void)state;
    expect_hex(identity_in(FIXTURE_HEAD, 0), "954fcf6b2c1529ec2f7974dcb6e84f0c");
    expect_hex(identity_in(FIXTURE_HEAD
                   "seed = 0..9\nbn_momentum = 0.03\nschedule = cosine\nfreeze = conv1-linear\n[network]\nnorm = batchrenorm\n"
                   "[measure]\nema = always\nema_decays = 0.99,0.9\nval_size = 64\n",
                   9),
        "42c3b5a69ee3ed0e1e9e50ca870816f8");
    fixture_text("data.h5", "some data");
    expect_hex(identity_in(FIXTURE_HEAD "[task]\ndata = file\nfile = data.h5\n", 0), "e000472ffc31ee8c95f850a6d000025f");
}

static void text_of_an_identity(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    struct settings settings;
    char text[SETTINGS_TEXT_SIZE];
    fixture_load(FIXTURE_HEAD "seed = 5\nbeta2 = 0.999\n", &sweep);
    assert_int_equal(sweep_unit(&sweep, 0, &settings, NULL), STATUS_OK);
    identity_text(&settings, text);
    assert_string_equal(text, "numerics = 2\nseed = 5\nsteps = 6000\noptimizer = adam\nlr = 0.001\n");
    sweep_free(&sweep);
}

static void same(const char *a, const char *b)
{
    if (!hash_equal(identity_in(a, 0), identity_in(b, 0)))
        fail_msg("identities differ:\n%s\n%s", a, b);
}

static void differ(const char *a, const char *b)
{
    if (hash_equal(identity_in(a, 0), identity_in(b, 0)))
        fail_msg("identities are equal:\n%s\n%s", a, b);
}

static void spelling_does_not_matter(void **state)
{
    (void)state;
    same(FIXTURE_HEAD,
        "; note\n[train]\r\nlr   =   0.001 ; note\r\noptimizer=adam\r\nsteps : 06000\r\n\r\n[sweep]\r\nname=other\r\n");
    same(FIXTURE_HEAD, FIXTURE_HEAD "beta2 = 0.999\nseed = 0\n[network]\nchannels = 32-64-64\n[measure]\nreest_batches = 200\n");
    same(FIXTURE_HEAD, "[sweep]\nname = s\n[train]\nsteps = 6000\n[arm x]\noptimizer = adam\nlr = 1e-3\n");
    same(FIXTURE_HEAD "[measure]\nreest_batches = 50,200\n", FIXTURE_HEAD "[measure]\nreest_batches = 200,50\n");
    same(FIXTURE_HEAD, "[sweep]\nname = s\n[train]\nsteps = 6000\nmomentum = 0.9\nlr = 0.001\n[grid]\noptimizer = adam, sgd\n");
}

static void what_changes_a_number_matters(void **state)
{
    (void)state;
    differ(FIXTURE_HEAD, FIXTURE_HEAD "seed = 1\n");
    differ(FIXTURE_HEAD, FIXTURE_HEAD "bn_momentum = 0.03\n");
    differ(FIXTURE_HEAD, FIXTURE_HEAD "[measure]\ntrace_every = 0\n");
    differ(FIXTURE_HEAD, FIXTURE_HEAD "[task]\ntask_seed = 0\n");
    differ(FIXTURE_HEAD "freeze = conv1\n", FIXTURE_HEAD "freeze = conv1-linear\n");
}

static void contents_of_files_matter(void **state)
{
    (void)state;
    static const char one[] = FIXTURE_HEAD "[task]\ndata = file\nfile = data.h5\n[network]\ninit = init.h5\n";
    static const char two[] = FIXTURE_HEAD "[task]\ndata = file\nfile = copy.h5\n[network]\ninit = init.h5\n";
    fixture_text("data.h5", "some data");
    fixture_text("copy.h5", "some data");
    fixture_text("init.h5", "weights");
    same(one, two);
    struct hash before = identity_in(one, 0);
    fixture_text("init.h5", "weightz");
    struct hash after = identity_in(one, 0);
    assert_false(hash_equal(before, after));
    fixture_text("copy.h5", "other data");
    differ(one, two);
}

/* Files are hashed in chunks of 1 MiB: a byte matters wherever it is, and so does the length. */
static void large_files(void **state)
{
    (void)state;
    size_t size = (2u << 20) + 5;
    unsigned char *bytes = calloc(size + 1, 1);
    char whole[HASH_HEX_SIZE], other[HASH_HEX_SIZE];
    assert_non_null(bytes);
    assert_int_equal(identity_file(fixture_bytes("big", bytes, size), whole), STATUS_OK);
    static const size_t places[] = {0, (1u << 20) - 1, 1u << 20, (2u << 20) + 4};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bytes[places[i]] = 1;
        assert_int_equal(identity_file(fixture_bytes("big", bytes, size), other), STATUS_OK);
        assert_string_not_equal(whole, other);
        bytes[places[i]] = 0;
    }
    static const size_t sizes[] = {0, 1u << 20, 2u << 20, (2u << 20) + 4, (2u << 20) + 6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(identity_file(fixture_bytes("big", bytes, sizes[i]), other), STATUS_OK);
        assert_string_not_equal(whole, other);
    }
    free(bytes);
    assert_int_equal(identity_file("/nonexistent", other), STATUS_INPUT);
    assert_int_equal(identity_file("/dev/null", other), STATUS_INPUT);
}

static void fusing(void **state)
{
    (void)state;
    struct settings s, other;
    settings_defaults(&s);
    other = s;
    other.bn_momentum = 0.03;
    assert_true(identity_fusable(&s));
    assert_true(hash_equal(identity_trajectory(&s), identity_trajectory(&other)));
    assert_false(hash_equal(identity_trajectory(&s), identity_of(&s)));
    other.seed = 1;
    assert_false(hash_equal(identity_trajectory(&s), identity_trajectory(&other)));

    s.freeze = SETTINGS_FREEZE_LINEAR;
    s.freeze_stats = FREEZE_STATS_HELD;
    assert_true(identity_fusable(&s)); /* no frozen block: nothing reads the running statistics */
    s.freeze |= 1;
    assert_false(identity_fusable(&s));
    assert_true(hash_equal(identity_trajectory(&s), identity_of(&s)));
    s.freeze_stats = FREEZE_STATS_LIVE;
    assert_true(identity_fusable(&s));
    s.probe_writes_stats = true;
    assert_true(identity_fusable(&s));
    s.norm = NORM_BATCHRENORM;
    assert_false(identity_fusable(&s));
    s.norm = NORM_GROUP;
    assert_false(identity_fusable(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned),
        cmocka_unit_test(text_of_an_identity),
        cmocka_unit_test(spelling_does_not_matter),
        cmocka_unit_test(what_changes_a_number_matters),
        cmocka_unit_test(contents_of_files_matter),
        cmocka_unit_test(large_files),
        cmocka_unit_test(fusing),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

#include "fixture.h"

#include "bnsweep/sweep/identity.h"
#include "bnsweep/sweep/settings_text.h"

#include <time.h>

static struct settings unit(const struct sweep *sweep, size_t index, const char *arm)
{
    struct settings settings;
    const char *name;
    assert_int_equal(sweep_unit(sweep, index, &settings, &name), STATUS_OK);
    assert_string_equal(name, arm);
    return settings;
}

static void one_unit(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_load(FIXTURE_HEAD, &sweep);
    assert_int_equal(sweep.unit_count, 1);
    assert_int_equal(sweep.axis_count, 0);
    assert_string_equal(sweep.name, "s");
    assert_string_equal(sweep.text, FIXTURE_HEAD);
    struct settings s = unit(&sweep, 0, "default");
    assert_int_equal(s.steps, 6000);
    assert_int_equal(s.optimizer, OPTIM_ADAM);
    assert_int_equal(sweep_unit(&sweep, 1, &s, NULL), STATUS_INPUT);
    assert_string_equal(status_message(), "no unit 1: the sweep has 1 units, from 0");
    sweep_free(&sweep);
}

/* Arms in file order, then axes in file order, the last fastest; lists stand in any section; sections in any order. */
static void unit_order(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_load("[arm b]\nlr = 1, 2\n[train]\nsteps = 6000\noptimizer = adam\nbatch = 16,32\n[arm a]\nlr = 3\nbatch = 8\n"
                 "[grid]\nseed = 0..2\n[sweep]\nname = s\n",
        &sweep);
    assert_int_equal(sweep.unit_count, 2 * 2 * 3 + 3);
    for (size_t i = 0; i < 12; i++) {
        struct settings s = unit(&sweep, i, "b");
        assert_true(s.lr == 1 + (double)(i / 6));
        assert_int_equal(s.batch, i / 3 % 2 ? 32 : 16);
        assert_int_equal(s.seed, i % 3);
    }
    for (size_t i = 12; i < 15; i++) {
        struct settings s = unit(&sweep, i, "a");
        assert_true(s.lr == 3 && s.batch == 8);
        assert_int_equal(s.seed, i % 3);
    }
    assert_int_equal(sweep.axis_count, 3);
    assert_int_equal(sweep.axes[0].key, SETTING_lr);
    assert_int_equal(sweep.axes[1].key, SETTING_batch);
    assert_int_equal(sweep.axes[2].count, 3);
    sweep_free(&sweep);
}

/* What a unit does not read has its default. */
static void unread_settings(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_load(
        "[sweep]\nname = s\n[train]\nsteps = 6000\nlr = 0.1\nmomentum = 0.9\nbeta2 = 0.99\n[arm sgd]\noptimizer = sgd\n[arm adam]\noptimizer = adam\n",
        &sweep);
    struct settings sgd = unit(&sweep, 0, "sgd"), adam = unit(&sweep, 1, "adam");
    assert_true(sgd.momentum == 0.9 && sgd.beta2 == 0.999);
    assert_true(adam.momentum == 0 && adam.beta2 == 0.99);
    sweep_free(&sweep);
}

static void probe_follows_val_size(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_load(FIXTURE_HEAD "[measure]\nval_size = 64\n", &sweep);
    assert_int_equal(unit(&sweep, 0, "default").probe_size, 64);
    sweep_free(&sweep);
    fixture_refuse(FIXTURE_HEAD "[measure]\nval_size = 64\nprobe_size = 512\n",
        "9: [measure] probe_size = 512: ", "512 is more than val_size = 64");
}

static void load_with(const char *text, const char *const *overrides, size_t count, struct sweep *out)
{
    if (sweep_load(fixture_text("sweep.ini", text), overrides, count, out))
        fail_msg("refused: %s", status_message());
}

/* --set wins over base sections, axes and arms, and may be an axis itself. */
static void overrides_win(void **state)
{
    (void)state;
    static const char text[] =
        "[sweep]\nname = s\n[train]\nsteps = 6000\noptimizer = adam\n[grid]\nseed = 0..9\n[arm a]\nlr = 1\n[arm b]\nlr = 2\nradial = project\n";
    struct sweep sweep = {0};
    load_with(text, (const char *[]){"seed=7", "lr = 5", "name=t", "first_check=500"}, 4, &sweep);
    assert_int_equal(sweep.unit_count, 2);
    assert_string_equal(sweep.name, "t");
    struct settings s = unit(&sweep, 1, "b");
    assert_true(s.lr == 5 && s.seed == 7 && s.first_check == 500);
    assert_non_null(strstr(sweep.resolved, "; --set seed=7\n"));
    sweep_free(&sweep);
    load_with(text, (const char *[]){"batch=16,32"}, 1, &sweep);
    assert_int_equal(sweep.unit_count, 40);
    assert_int_equal(unit(&sweep, 1, "a").batch, 32);
    sweep_free(&sweep);
}

static void refuse_override(const char *const *overrides, size_t count, const char *start, const char *part)
{
    struct sweep sweep = {0};
    enum status status = sweep_load(fixture_text("sweep.ini", FIXTURE_HEAD), overrides, count, &sweep);
    sweep_free(&sweep);
    if (status != STATUS_INPUT || strncmp(status_message(), start, strlen(start)) != 0 || !strstr(status_message(), part))
        fail_msg("%s: %s\nexpected %s ... %s", status_name(status), status_message(), start, part);
}

static void bad_overrides(void **state)
{
    (void)state;
    refuse_override((const char *[]){"lr"}, 1, "--set lr: allowed: --set KEY=VALUE", "");
    refuse_override((const char *[]){"=1"}, 1, "--set =1: allowed", "");
    refuse_override((const char *[]){"lrr=1"}, 1, "--set lrr=1: unknown key 'lrr'; did you mean 'lr' of [train]?", "");
    refuse_override((const char *[]){"lr=x"}, 1, "--set lr=x: 'x' is not a number", "");
    refuse_override((const char *[]){"lr="}, 1, "--set lr=: '' is empty", "");
    refuse_override((const char *[]){"momentum=0.9"}, 1,
        "--set momentum=0.9: nothing reads this here: momentum is read only where optimizer = sgd", "");
    refuse_override((const char *[]){"lr=1", "lr=2"}, 2, "--set lr=2: the key is set twice, before with '1'", "");
    refuse_override((const char *[]){"steps=10"}, 1, fixture_path("sweep.ini"),
        "[measure] first_check = 2000: 2000 is after the last step, steps = 10");
    refuse_override((const char *[]){"file_hash=00000000000000000000000000000000"}, 1, "--set file_hash=", "unknown key");
}

/* Relative paths start at the INI's folder, and the hash of the bytes is there. */
static void files(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    char expected[FIXTURE_PATH], hash[HASH_HEX_SIZE];
    fixture_text("data.h5", "some data");
    fixture_text("init.h5", "");
    fixture_load(FIXTURE_HEAD "[task]\ndata = file\nfile = ./data.h5\n[network]\ninit = init.h5, default\n", &sweep);
    assert_int_equal(sweep.unit_count, 2);
    struct settings s = unit(&sweep, 0, "default");
    snprintf(expected, sizeof expected, "%s/./data.h5", fixture_folder);
    assert_string_equal(s.file, expected);
    assert_int_equal(identity_file(s.file, hash), STATUS_OK);
    assert_string_equal(s.file_hash, hash);
    assert_int_equal(strlen(s.init_hash), 32);
    assert_int_equal(identity_verify_files(&s), STATUS_OK);
    assert_string_equal(unit(&sweep, 1, "default").init_hash, "");
    fixture_text("data.h5", "same size");
    assert_int_equal(identity_verify_files(&s), STATUS_INPUT);
    assert_non_null(strstr(status_message(), "has changed since the sweep was read"));
    sweep_free(&sweep);
}

/* A sweep file given by a relative path still gives absolute ones. */
static void relative_sweep_file(void **state)
{
    (void)state;
    char before[1024], expected[FIXTURE_PATH];
    fixture_text("data.h5", "some data");
    fixture_text("sweep.ini", FIXTURE_HEAD "[task]\ndata = file\nfile = data.h5\n");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture_folder), 0);
    struct sweep sweep = {0};
    enum status status = sweep_load("sweep.ini", NULL, 0, &sweep);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, STATUS_OK);
    snprintf(expected, sizeof expected, "%s/data.h5", fixture_folder);
    assert_string_equal(unit(&sweep, 0, "default").file, expected);
    sweep_free(&sweep);
}

/* The resolved form is a sweep of the same units in the same order, and is its own resolved form. */
static void resolved_form(void **state)
{
    (void)state;
    static const char text[] =
        "[sweep]\nname = s\n[train]\nsteps = 6000\nlr = 1e-4..1e-2 log 5\n[grid]\nseed = 0..99\nnorm = batch, layer\n[measure]\nema = always\n"
        "[arm sgd]\noptimizer = sgd\nmomentum = 0.9\nnesterov = yes\n[arm adamw]\noptimizer = adamw\nweight_decay = 0,0.01\nschedule = cosine\nfreeze = conv1-linear\n";
    struct sweep sweep = {0}, again = {0};
    fixture_load(text, &sweep);
    assert_int_equal(sweep.unit_count, 5 * 100 * 2 * 3);
    fixture_load(sweep.resolved, &again);
    assert_string_equal(sweep.resolved, again.resolved);
    assert_int_equal(sweep.unit_count, again.unit_count);
    for (size_t i = 0; i < sweep.unit_count; i++) {
        struct settings a, b;
        assert_int_equal(sweep_unit(&sweep, i, &a, NULL), STATUS_OK);
        assert_int_equal(sweep_unit(&again, i, &b, NULL), STATUS_OK);
        assert_true(hash_equal(identity_of(&a), identity_of(&b)));
    }
    sweep_free(&sweep);
    sweep_free(&again);
}

static const char golden[] =
    "; The ten arms whose traces are known.\n[sweep]\nname = golden\n\n[task]\ndata  = file\nfile  = data.h5\norder = sequential\n\n"
    "[network]\nchannels = 32-64-64\ninit     = init.h5\n\n[train]\nsteps       = 20\nbatch       = 16\nbn_momentum = 0.03\n\n"
    "[measure]\nfirst_check  = 5\ncheck_every  = 5\nangle_window = 5\nval_size     = 64\n\n"
    "[arm sgd]\noptimizer = sgd\nlr        = 0.05\nmomentum  = 0.9\n\n[arm adam]\noptimizer = adam\nlr        = 3e-3\n\n"
    "[arm adam_slow]\noptimizer = adam\nlr        = 3e-4\n\n[arm adam_cos]\noptimizer = adam\nlr        = 3e-3\nschedule  = cosine\n\n"
    "[arm adamw]\noptimizer    = adamw\nlr           = 3e-3\nweight_decay = 0.05\n\n[arm adam_proj]\noptimizer = adam\nradial    = project\nlr        = 3e-3\n\n"
    "[arm adam_m30]\noptimizer   = adam\nlr          = 3e-3\nbn_momentum = 0.3\n\n"
    "[arm sgd_wd]\noptimizer    = sgd\nlr           = 0.05\nmomentum     = 0.9\nweight_decay = 5e-4\n\n"
    "[arm adam_group]\noptimizer = adam\nlr        = 3e-3\nnorm      = group\ngroups    = 8\n\n[arm adam_layer]\noptimizer = adam\nlr        = 3e-3\nnorm      = layer\n";

static void golden_sweep(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    fixture_text("data.h5", "data");
    fixture_text("init.h5", "init");
    fixture_load(golden, &sweep);
    assert_int_equal(sweep.unit_count, 10);
    assert_true(unit(&sweep, 6, "adam_m30").bn_momentum == 0.3);
    assert_true(unit(&sweep, 1, "adam").bn_momentum == 0.03);
    assert_true(unit(&sweep, 4, "adamw").weight_decay == 0.05);
    assert_int_equal(unit(&sweep, 9, "adam_layer").norm, NORM_LAYER);
    sweep_free(&sweep);
}

static void a_million_units(void **state)
{
    (void)state;
    struct sweep sweep = {0};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    fixture_load(FIXTURE_HEAD "[grid]\nseed = 0..999999\n", &sweep);
    clock_gettime(CLOCK_MONOTONIC, &end);
    print_message(
        "1,000,000 units loaded in %.2f s\n", (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    assert_int_equal(sweep.unit_count, 1000000);
    assert_int_equal(unit(&sweep, 999999, "default").seed, 999999);
    assert_int_equal(sweep.axes[0].count, 1000000);
    for (size_t i = 0; i < sweep.unit_count; i += 9973) {
        struct settings settings = unit(&sweep, i, "default");
        assert_true(hash_equal(sweep.identities[i], identity_of(&settings)));
    }
    sweep_free(&sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unit),
        cmocka_unit_test(unit_order),
        cmocka_unit_test(unread_settings),
        cmocka_unit_test(probe_follows_val_size),
        cmocka_unit_test(overrides_win),
        cmocka_unit_test(bad_overrides),
        cmocka_unit_test(files),
        cmocka_unit_test(relative_sweep_file),
        cmocka_unit_test(resolved_form),
        cmocka_unit_test(golden_sweep),
        cmocka_unit_test(a_million_units),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

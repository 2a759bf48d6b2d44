/* From settings to a trajectory and back: every setting arrives, and what is read back from the running objects is what was asked.
 */
#include "small_run.h"

#include "bnsweep/run/applied.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/sweep/settings_text.h"

/* Every key with a value that is not its default, in the combinations that read it. */
static const char *const common = "channels=4-6;image=6;image_channels=2;classes=3;batch=5;val_size=9;probe_size=4;steps=20;first_"
                                  "check=7;check_every=3;angle_window=5;"
                                  "trace_every=4;seed=77;lr=0.25;warmup=2;noise=0.5;signal=0.75;task_seed=12;eps=0.002;";
static const char *const variants[] = {
    "optimizer=sgd;momentum=0.8;nesterov=yes;weight_decay=0.01;radial=project;bn_momentum=0.3;schedule=cosine;lr_min=0.125;reest="
    "always;reest_batches=1,3;",
    "optimizer=adam;beta1=0.7;beta2=0.8;opt_eps=0.001;schedule=step;lr_interval=3;lr_gamma=0.5;norm=group;groups=2;ema=always;ema_"
    "decays=0.5,0.75;reest=never;",
    "optimizer=adamw;weight_decay=0.5;schedule=exponential;lr_gamma=0.9;norm=layer;conv_bias=yes;freeze=conv1-linear;freeze_from=3;"
    "reest=failing;",
    "optimizer=adamp;schedule=one-cycle;cycle_peak=0.25;cycle_div=10;cycle_final_div=100;norm=batchrenorm;renorm_rmax=2;renorm_"
    "dmax=4;renorm_warmup=1;"
    "renorm_rmax_step=3;renorm_dmax_step=4;freeze=conv2;freeze_stats=held;swap_layer=always;swap_top=failing;probe_writes_stats="
    "yes;",
    "optimizer=sgd;norm=none;task_seed=per-seed;",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void set_all(struct settings *settings, const char *list)
{
    char text[1024], *rest = text;
    snprintf(text, sizeof text, "%s", list);
    for (char *entry; (entry = strsep(&rest, ";")) && *entry;) {
        char *value = strchr(entry, '=');
        *value++ = 0;
        assert_ok(settings_text_set(settings, settings_find(entry), value));
    }
}

static struct settings variant(size_t index)
{
    struct settings settings;
    settings_defaults(&settings);
    strcpy(settings.name, "configured");
    set_all(&settings, common);
    set_all(&settings, variants[index]);
    settings_prune(&settings);
    return settings;
}

static struct trajectory *create(const struct settings *settings, size_t count, const double *momenta,
                                 struct small_run_records *records)
{
    static const struct configure_files none;
    struct trajectory_config config;
    assert_ok(configure_trajectory(settings, count, momenta, &none, &config));
    return small_run_create(&config, records);
}

static void what_is_applied_is_what_was_asked(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++) {
        struct settings asked = variant(v), applied;
        struct small_run_records records = {0};
        struct trajectory *t = create(&asked, 1, &asked.bn_momentum, &records);
        small_run_steps(t, 8);
        applied_read(t, 0, &asked, &applied);
        assert_ok(applied_check(&asked, &applied));
        for (int key = 0; key < SETTINGS_COUNT; key++)
            assert_true(settings_same(&asked, &applied, key));
        trajectory_free(t);
        small_run_forget(&records);
    }
}

/* A trajectory of one variant against the settings of another with one key changed: the key is named. */
static void a_setting_that_was_not_applied_is_named(void **state)
{
    (void)state;
    static const struct {
        size_t variant;
        const char *change, *text;
    } cases[] = {
        {0, "momentum=0.9;", "momentum = 0.9 was asked for, but 0.8 was applied"},
        {0, "bn_momentum=0.03;", "bn_momentum = 0.03 was asked for, but 0.3 was applied"},
        {0, "lr=0.5;", "lr = 0.5 was asked for, but 0.25 was applied"},
        {0, "radial=keep;", "radial = keep was asked for, but project was applied"},
        {0, "channels=4-8;", "channels = 4-8 was asked for, but 4-6 was applied"},
        {0, "conv_bias=yes;", "conv_bias = yes was asked for"},
        {1, "beta2=0.999;", "beta2 = 0.999 was asked for, but 0.8 was applied"},
        {1, "ema_decays=0.5;", "ema_decays = 0.5 was asked for, but 0.5,0.75 was applied"},
        {2, "freeze=conv1;", "freeze = conv1 was asked for, but conv1-linear was applied"},
        {3, "renorm_dmax=5;", "renorm_dmax = 5 was asked for, but 4 was applied"},
        {3, "freeze_stats=live;", "freeze_stats = live was asked for, but held was applied"},
        {4, "task_seed=77;", "task_seed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings made = variant(cases[i].variant), asked = made, applied;
        struct small_run_records records = {0};
        struct trajectory *t = create(&made, 1, &made.bn_momentum, &records);
        set_all(&asked, cases[i].change);
        applied_read(t, 0, &asked, &applied);
        if (!strcmp(cases[i].change, "task_seed=77;"))
            assert_ok(applied_check(&asked, &applied)); /* the unit's seed by its number: the same task */
        else
            assert_fails(STATUS_INTERNAL, cases[i].text, applied_check(&asked, &applied));
        trajectory_free(t);
        small_run_forget(&records);
    }
}

static void each_unit_has_its_own_momentum(void **state)
{
    (void)state;
    static const double momenta[] = {0.3, 0.03, 1};
    struct settings asked = variant(0), applied;
    struct small_run_records records = {0};
    struct trajectory *t = create(&asked, 3, momenta, &records);
    for (size_t unit = 0; unit < 3; unit++) {
        applied_read(t, unit, &asked, &applied);
        assert_true(applied.bn_momentum == momenta[unit]);
    }
    trajectory_free(t);
    small_run_forget(&records);
}

/* The store's axes are known from the settings alone, and are those of the trajectory. */
static void extents_agree(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++) {
        struct settings settings = variant(v);
        struct small_run_records records = {0};
        struct trajectory *t = create(&settings, 1, &settings.bn_momentum, &records);
        struct variables_extent extent = configure_extent(&settings);
        assert_memory_equal(&extent, &t->extent, sizeof extent);
        trajectory_free(t);
        small_run_forget(&records);
    }
}

static void files_and_settings_must_fit(void **state)
{
    (void)state;
    static const float pixels[2 * 4] = {0};
    static const int32_t labels[2] = {0, 4};
    static const struct task_images images = {1, 2, 2, 2, 2, pixels, pixels, labels, labels};
    struct configure_files files = {.images = &images};
    struct trajectory_config config;
    struct settings settings = variant(0);
    assert_fails(STATUS_INPUT, "not those the settings name",
                 configure_trajectory(&settings, 1, &settings.bn_momentum, &files, &config));
    assert_fails(STATUS_INPUT, "0 momenta", configure_trajectory(&settings, 0, &settings.bn_momentum, &files, &config));
    assert_fails(STATUS_INPUT, "65 momenta", configure_trajectory(&settings, 65, &settings.bn_momentum, &files, &config));
    settings.data = DATA_FILE;
    assert_ok(configure_trajectory(&settings, 1, &settings.bn_momentum, &files, &config));
    assert_int_equal(config.net.classes, 5); /* one more than the largest label */
    assert_int_equal(config.net.image_channels, 1);
    assert_int_equal(config.task.image_h, 2);
    strcpy(settings.init, "weights.h5");
    assert_fails(STATUS_INPUT, "not those the settings name",
                 configure_trajectory(&settings, 1, &settings.bn_momentum, &files, &config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_applied_is_what_was_asked),
        cmocka_unit_test(a_setting_that_was_not_applied_is_named),
        cmocka_unit_test(each_unit_has_its_own_momentum),
        cmocka_unit_test(extents_agree),
        cmocka_unit_test(files_and_settings_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

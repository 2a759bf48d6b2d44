#include "fixture.h"

#include "bnsweep/sweep/settings_check.h"
#include "bnsweep/sweep/settings_text.h"

/* Settings that pass settings_check. */
static struct settings good(void)
{
    struct settings settings;
    settings_defaults(&settings);
    assert_int_equal(settings_text_set(&settings, SETTING_name, "s"), STATUS_OK);
    settings.steps = 6000;
    settings.lr = 1e-3;
    settings.optimizer = OPTIM_ADAM;
    settings.lr_interval = 10;
    settings_prune(&settings);
    return settings;
}

/* Every default is allowed, and every key is described and found once. */
static void table_is_sound(void **state)
{
    (void)state;
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        const struct setting *setting = &settings_table[key];
        struct settings settings = {0};
        assert_true(strlen(setting->help) > 3);
        assert_true(strlen(setting->range.text) > 1);
        if (setting->section == SETTINGS_SECTION_DERIVED) {
            assert_int_equal(settings_find(setting->key), -1);
            continue;
        }
        assert_int_equal(settings_find(setting->key), key);
        if (setting->default_text)
            assert_int_equal(settings_text_set(&settings, key, setting->default_text), STATUS_OK);
    }
    assert_string_equal(settings_table[SETTING_norm].range.text, "batch | group | layer | batchrenorm | none");
    assert_string_equal(settings_table[SETTING_classes].range.text, "2..10000");
}

/* In every combination of the choices: each key is asked for alone as with all others, and leaving out what is not read changes
 * nothing of that. */
static void conditions_agree(void **state)
{
    (void)state;
    struct settings s = good();
    size_t combinations = 0;
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++)
        for (int optimizer = 0; optimizer < OPTIM_KIND_COUNT; optimizer++)
            for (int schedule = 0; schedule < SCHEDULE_KIND_COUNT; schedule++)
                for (int rest = 0; rest < 64; rest++, combinations++) {
                    s.norm = norm, s.optimizer = optimizer, s.schedule = schedule;
                    s.data = rest & 1 ? DATA_FILE : DATA_TEMPLATES;
                    s.freeze = (rest & 2 ? 1 : 0) | (rest & 4 ? SETTINGS_FREEZE_LINEAR : 0);
                    s.reest = rest & 8 ? WHEN_NEVER : WHEN_LAST;
                    s.ema = rest & 16 ? WHEN_ALWAYS : WHEN_NEVER;
                    strcpy(s.init, rest & 32 ? "w.h5" : "default");
                    uint32_t held = settings_conditions(&s);
                    for (int key = 0; key < SETTINGS_COUNT; key++)
                        assert_int_equal(held >> settings_table[key].condition & 1, settings_relevant(&s, key));
                    struct settings pruned = s;
                    settings_prune(&pruned);
                    assert_int_equal(settings_conditions(&pruned), held);
                }
    assert_true(combinations > 1000);
}

static void defaults_of_the_design(void **state)
{
    (void)state;
    struct settings s;
    settings_defaults(&s);
    assert_int_equal(s.channels.count, 3);
    assert_int_equal(s.channels.values[0], 32);
    assert_true(s.eps == 1e-5 && s.bn_momentum == 0.1 && s.cycle_final_div == 1e4 && s.ema_decays.values[0] == 0.999);
    assert_int_equal(s.norm, NORM_BATCH);
    assert_int_equal(s.task_seed, SETTINGS_PER_SEED);
    assert_int_equal(s.freeze, 0);
    assert_string_equal(s.init, "default");
    assert_int_equal(s.first_check, 2000);
    assert_int_equal(s.reest, WHEN_LAST);
}

static void canonical_forms(void **state)
{
    (void)state;
    static const struct {
        int key;
        const char *text, *canonical;
    } cases[] = {
        {SETTING_lr, "3e-3", "0.003"},
        {SETTING_lr, "0.00003", "3e-05"},
        {SETTING_seed, "007", "7"},
        {SETTING_channels, "32 - 64", "32-64"},
        {SETTING_freeze, "linear-conv3-conv1", "conv1-conv3-linear"},
        {SETTING_freeze, "none", "none"},
        {SETTING_reest_batches, "200, 50", "50,200"},
        {SETTING_ema_decays, "0.999, 0.90", "0.9,0.999"},
        {SETTING_task_seed, "per-seed", "per-seed"},
        {SETTING_task_seed, "4294967295", "4294967295"},
        {SETTING_nesterov, "yes", "yes"},
        {SETTING_schedule, "one-cycle", "one-cycle"},
        {SETTING_file, "a b.h5", "a b.h5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings s;
        char text[SETTINGS_VALUE_SIZE];
        settings_defaults(&s);
        assert_int_equal(settings_text_set(&s, cases[i].key, cases[i].text), STATUS_OK);
        settings_text_format(&s, cases[i].key, text);
        assert_string_equal(text, cases[i].canonical);
    }
}

static void bad_values(void **state)
{
    (void)state;
    static const struct {
        int key;
        const char *text, *message;
    } cases[] = {
        {SETTING_lr, "", "'' is empty; allowed: a number, >= 0"},
        {SETTING_lr, "fast", "'fast' is not a number; allowed: a number, >= 0"},
        {SETTING_lr, "-1", "'-1' is out of range; allowed: a number, >= 0"},
        {SETTING_lr, "inf", "'inf' is not a number; allowed: a number, >= 0"},
        {SETTING_eps, "0", "'0' is out of range; allowed: a number, > 0"},
        {SETTING_beta1, "1", "'1' is out of range; allowed: a number, >= 0 and < 1"},
        {SETTING_bn_momentum, "0", "'0' is out of range; allowed: a number, > 0 and <= 1"},
        {SETTING_cycle_peak, "1", "'1' is out of range; allowed: a number, > 0 and < 1"},
        {SETTING_steps, "1e3", "'1e3' is not a whole number; allowed: a whole number, 1..1000000000"},
        {SETTING_steps, "99999999999999999999", "'99999999999999999999' is too large; allowed: a whole number, 1..1000000000"},
        {SETTING_seed, "4294967296", "'4294967296' is out of range; allowed: a whole number, 0..4294967295"},
        {SETTING_task_seed, "-1", "'-1' is out of range; allowed: per-seed, or a whole number, 0..4294967295"},
        {SETTING_norm, "bach", "'bach' is none of the choices; allowed: batch | group | layer | batchrenorm | none"},
        {SETTING_nesterov, "true", "'true' is neither yes nor no; allowed: yes | no"},
        {SETTING_channels, "32-", "'32-' is no list of numbers; allowed: 1 to 16 whole numbers joined by dashes, each 1..4096"},
        {SETTING_channels, "1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16-17", "has too many numbers"},
        {SETTING_channels, "32-5000", "is out of range"},
        {SETTING_freeze, "conv0",
            "'conv0' names an unknown layer; allowed: none, or of conv1..convN and linear, joined by dashes"},
        {SETTING_freeze, "conv17", "names an unknown layer"},
        {SETTING_freeze, "conv1-conv1", "names a layer twice"},
        {SETTING_reest_batches, "1,2,3,4,5,6,7,8,9",
            "has too many numbers; allowed: 1 to 8 different numbers joined by commas, each 1..1000000"},
        {SETTING_reest_batches, "5,5", "has a number twice"},
        {SETTING_ema_decays, "0.9,1", "is out of range"},
        {SETTING_ema_decays, "0.9,0.90", "has a number twice"},
        {SETTING_name, "a b", "'a b' has other characters; allowed: letters, digits and . _ -"},
        {SETTING_name, "../x", "has other characters"},
        {SETTING_name, ".x", "begins with a dot or a dash"},
        {SETTING_file, "a\nb", "has a control character"},
        {SETTING_file_hash, "xyz", "'xyz' is no hash"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings s = good(), before = s;
        assert_int_equal(settings_text_set(&s, cases[i].key, cases[i].text), STATUS_INPUT);
        if (!strstr(status_message(), cases[i].message))
            fail_msg("%s: %s\nexpected %s", settings_table[cases[i].key].key, status_message(), cases[i].message);
        assert_memory_equal(&s, &before, sizeof s);
    }
}

static void relevance(void **state)
{
    (void)state;
    struct settings s = good();
    assert_true(settings_relevant(&s, SETTING_beta2));
    assert_false(settings_relevant(&s, SETTING_momentum));
    assert_true(settings_relevant(&s, SETTING_bn_momentum));
    s.norm = NORM_GROUP;
    assert_false(settings_relevant(&s, SETTING_bn_momentum));
    assert_true(settings_relevant(&s, SETTING_groups));
    s.norm = NORM_NONE;
    assert_false(settings_relevant(&s, SETTING_eps));
    s.norm = NORM_BATCH;
    s.freeze = SETTINGS_FREEZE_LINEAR;
    assert_true(settings_relevant(&s, SETTING_freeze_from));
    assert_false(settings_relevant(&s, SETTING_freeze_stats));
    s.freeze |= 2;
    assert_true(settings_relevant(&s, SETTING_freeze_stats));
    assert_false(settings_relevant(&s, SETTING_ema_decays));
    assert_false(settings_relevant(&s, SETTING_file));
    assert_false(settings_relevant(&s, SETTING_lr_gamma));
    s.schedule = SCHEDULE_EXPONENTIAL;
    assert_true(settings_relevant(&s, SETTING_lr_gamma));
    assert_false(settings_relevant(&s, SETTING_lr_interval));
}

static void expect_rule(const struct settings *s, int key, const char *message)
{
    int blamed = -1;
    assert_int_equal(settings_check(s, NULL, &blamed), STATUS_INPUT);
    assert_string_equal(settings_table[blamed].key, settings_table[key].key);
    if (!strstr(status_message(), message))
        fail_msg("%s\nexpected %s", status_message(), message);
}

static void rules(void **state)
{
    (void)state;
    int key;
    const struct settings base = good();
    assert_int_equal(settings_check(&base, NULL, &key), STATUS_OK);
    struct settings s = base;
    s.norm = NORM_GROUP;
    s.groups = 7;
    expect_rule(&s, SETTING_groups, "7 groups do not divide the 32 channels of block 1");
    s = base;
    s.image = 3;
    expect_rule(&s, SETTING_channels, "3 blocks pool an image of 3 pixels 2 times, to nothing");
    s = base;
    s.image = 4;
    assert_int_equal(settings_check(&s, NULL, &key), STATUS_OK);
    s.batch = 1;
    expect_rule(&s, SETTING_batch, "a batch of 1 leaves one value a channel in block 3");
    s = base;
    s.optimizer = OPTIM_SGD;
    s.nesterov = true;
    expect_rule(&s, SETTING_nesterov, "needs momentum > 0");
    s = base;
    s.freeze = 8;
    expect_rule(&s, SETTING_freeze, "the network has conv1..conv3");
    s = base;
    s.freeze = 1;
    s.freeze_from = 6000;
    expect_rule(&s, SETTING_freeze_from, "nothing is ever frozen");
    s = base;
    s.warmup = 6001;
    expect_rule(&s, SETTING_warmup, "more than steps = 6000");
    s = base;
    s.schedule = SCHEDULE_COSINE;
    s.lr_min = 1;
    expect_rule(&s, SETTING_lr_min, "more than lr");
    s = base;
    s.first_check = 6001;
    expect_rule(&s, SETTING_first_check, "after the last step");
    s = base;
    s.angle_window = 2001;
    expect_rule(&s, SETTING_angle_window, "do not fit before first_check");
    s = base;
    s.probe_size = 4001;
    expect_rule(&s, SETTING_probe_size, "more than val_size = 4000");
    s = base;
    s.norm = NORM_BATCHRENORM;
    s.renorm_rmax_step = 4999;
    expect_rule(&s, SETTING_renorm_rmax_step, "before renorm_warmup");
    s = base;
    s.norm = NORM_BATCHRENORM;
    s.renorm_dmax_step = 4999;
    expect_rule(&s, SETTING_renorm_dmax_step, "before renorm_warmup");
}

static uint64_t random_state = 7;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 20) % below;
}

/* Any value of the key's type, in range or not. */
static void draw_text(int key, char out[SETTINGS_VALUE_SIZE])
{
    const struct setting *setting = &settings_table[key];
    switch (setting->type) {
    case SETTINGS_TYPE_CHOICE: strcpy(out, setting->range.names[draw((uint64_t)setting->range.high + 1)]); break;
    case SETTINGS_TYPE_REAL: snprintf(out, SETTINGS_VALUE_SIZE, "%.17ge-%d", (double)draw(1000003) / 97, (int)draw(9)); break;
    case SETTINGS_TYPE_BOOL: strcpy(out, draw(2) ? "yes" : "no"); break;
    case SETTINGS_TYPE_PATH: snprintf(out, SETTINGS_VALUE_SIZE, "/data = %d/ x ; # \xc3\xa4.h5 ", (int)draw(100)); break;
    case SETTINGS_TYPE_FREEZE: strcpy(out, draw(2) ? "none" : draw(2) ? "conv2-linear" : "linear"); break;
    case SETTINGS_TYPE_CHANNELS: snprintf(out, SETTINGS_VALUE_SIZE, "%d-%d", (int)draw(40) * 8 + 8, (int)draw(40) * 8 + 8); break;
    case SETTINGS_TYPE_INTS: snprintf(out, SETTINGS_VALUE_SIZE, "%d,%d", (int)draw(50), (int)draw(50) + 50); break;
    case SETTINGS_TYPE_REALS: snprintf(out, SETTINGS_VALUE_SIZE, "0.%d1,0.%d2", (int)draw(500), (int)draw(500)); break;
    case SETTINGS_TYPE_DIGEST:
        snprintf(out, SETTINGS_VALUE_SIZE, "%016x%016x", (unsigned)draw(1u << 31), (unsigned)draw(1u << 31));
        break;
    default: snprintf(out, SETTINGS_VALUE_SIZE, "%d", (int)draw(3000));
    }
}

/* What is written is read back exactly, whatever the settings. */
static void round_trip(void **state)
{
    (void)state;
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        struct settings s = good(), back;
        char text[SETTINGS_TEXT_SIZE], value[SETTINGS_VALUE_SIZE];
        s.lr_interval = 5;
        strcpy(s.file, "data.h5");
        for (int key = 1; key < SETTINGS_COUNT; key++) {
            draw_text(key, value);
            if (settings_table[key].section == SETTINGS_SECTION_DERIVED || draw(3) == 0)
                settings_text_set(&s, key, value);
        }
        settings_prune(&s);
        int blamed;
        if (settings_check(&s, NULL, &blamed))
            continue;
        settings_text_write(&s, text);
        if (settings_text_read(text, &back))
            fail_msg("%s\n%s", status_message(), text);
        for (int key = 0; key < SETTINGS_COUNT; key++)
            if (!settings_same(&s, &back, key))
                fail_msg("%s differs in\n%s", settings_table[key].key, text);
        accepted++;
    }
    assert_in_range(accepted, 1000, 20000);
}

static void expect_unreadable(const char *text, const char *message)
{
    struct settings s;
    assert_int_equal(settings_text_read(text, &s), STATUS_INPUT);
    if (!strstr(status_message(), message))
        fail_msg("%s\nexpected %s", status_message(), message);
}

static void damaged_text(void **state)
{
    (void)state;
    struct settings s = good();
    char text[SETTINGS_TEXT_SIZE], damaged[2 * SETTINGS_TEXT_SIZE];
    settings_text_write(&s, text);
    expect_unreadable("", "missing");
    expect_unreadable("lr", "cut off");
    expect_unreadable("lr=1\n", "no ' = '");
    expect_unreadable("lrr = 1\n", "unknown key");
    snprintf(damaged, sizeof damaged, "%slr = 1\n", text);
    expect_unreadable(damaged, "lr twice");
    snprintf(damaged, sizeof damaged, "%smomentum = 0.5\n", text);
    expect_unreadable(damaged, "momentum is not read in this combination");
    for (size_t size = 0; size < strlen(text); size++) {
        memcpy(damaged, text, size);
        damaged[size] = 0;
        assert_int_equal(settings_text_read(damaged, &s), STATUS_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test(defaults_of_the_design),
        cmocka_unit_test(conditions_agree),
        cmocka_unit_test(canonical_forms),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(relevance),
        cmocka_unit_test(rules),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(damaged_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

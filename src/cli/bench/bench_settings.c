#include "bench_settings.h"

#include "bnsweep/sweep/settings_check.h"
#include "bnsweep/sweep/settings_text.h"

#include <string.h>

enum { NEVER_DUE = 1000000000 };

/* What the defaults leave open. */
static const struct {
    int key;
    const char *text;
} own[] = {{SETTING_name, "bench"}, {SETTING_optimizer, "adam"}, {SETTING_lr, "3e-3"}, {SETTING_bn_momentum, "0.03"}};

/* Settings that no benchmark reads, besides those that are not read anyway. */
static const struct {
    int key;
    const char *why;
} meaningless[] = {
    {SETTING_name, "a benchmark has no store"},
    {SETTING_data, "a benchmark makes its images; set image, image_channels and classes to what the file has"},
    {SETTING_init, "a benchmark makes its weights"},
    {SETTING_steps, "a benchmark takes as many steps as --seconds allows"},
    {SETTING_first_check, "a benchmark times one check apart from the steps"},
    {SETTING_check_every, "a benchmark times one check apart from the steps"},
    {SETTING_reest, "a benchmark does not time re-estimation"},
    {SETTING_swap_layer, "a benchmark does not time swapping"},
    {SETTING_swap_top, "a benchmark does not time swapping"},
};

static enum status set_one(struct settings *settings, bool *given, const char *text)
{
    const char *equals = strchr(text, '=');
    char key_text[SETTINGS_NAME_SIZE] = "";
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (!length || length >= sizeof key_text)
        return status_fail(STATUS_INPUT, "key=value is needed, for example --set batch=64");
    memcpy(key_text, text, length);
    int key = settings_find(key_text);
    if (key < 0)
        return status_fail(STATUS_INPUT, "there is no setting '%s'; did you mean '%s'? (bnsweep keys lists them)", key_text,
                           settings_nearest(key_text));
    for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++)
        if (meaningless[i].key == key)
            return status_fail(STATUS_INPUT, "%s", meaningless[i].why);
    if (given[key])
        return status_fail(STATUS_INPUT, "%s is set twice", key_text);
    given[key] = true;
    return settings_text_set(settings, key, equals + 1);
}

static enum status check_read(const struct settings *settings, const bool *given)
{
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (given[key] && !settings_relevant(settings, key))
            return status_fail(STATUS_INPUT, "--set %s: it is read only where %s", settings_table[key].key,
                               settings_condition_texts[settings_table[key].condition]);
    return STATUS_OK;
}

enum status bench_settings(const struct option_sets *sets, struct settings *out)
{
    bool given[SETTINGS_COUNT] = {false};
    enum status status = STATUS_OK;
    int key;
    settings_defaults(out);
    for (size_t i = 0; !status && i < sizeof own / sizeof *own; i++)
        status = settings_text_set(out, own[i].key, own[i].text);
    for (size_t i = 0; !status && i < sets->count; i++)
        status = status_context(set_one(out, given, sets->text[i]), "--set %.200s", sets->text[i]);
    if (!status)
        status = check_read(out, given);
    if (status)
        return status;
    out->steps = out->first_check = out->check_every = NEVER_DUE;
    out->reest = out->swap_layer = out->swap_top = WHEN_NEVER;
    if (!given[SETTING_probe_size] && out->probe_size > out->val_size)
        out->probe_size = out->val_size;
    status = settings_check(out, NULL, &key);
    return status ? status_context(status, "--set %s", settings_table[key].key) : STATUS_OK;
}

bool bench_settings_shown(const struct settings *settings, int key)
{
    static const int always[] = {SETTING_channels, SETTING_norm, SETTING_image, SETTING_batch, SETTING_val_size};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i] == key)
            return true;
    for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++)
        if (meaningless[i].key == key)
            return false;
    return settings_table[key].section != SETTINGS_SECTION_DERIVED && settings_relevant(settings, key) &&
           !settings_is_default(settings, key);
}

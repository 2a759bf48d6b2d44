#include "bnsweep/sweep/settings.h"

#include "bnsweep/sweep/nearest.h"
#include "bnsweep/sweep/settings_text.h"

#include <math.h>
#include <string.h>

#define REQUIRED NULL
#define TEXT(allowed) {0, 0, false, false, allowed, NULL}
#define AT_LEAST(a) {a, INFINITY, false, true, ">= " #a, NULL}
#define ABOVE(a) {a, INFINITY, true, true, "> " #a, NULL}
#define BETWEEN(a, b) {a, b, false, false, #a ".." #b, NULL}
#define BETWEEN_OPEN(a, b) {a, b, true, true, "> " #a " and < " #b, NULL}
#define FROM_BELOW(a, b) {a, b, false, true, ">= " #a " and < " #b, NULL}
#define ABOVE_TO(a, b) {a, b, true, false, "> " #a " and <= " #b, NULL}
#define YES_NO {0, 0, false, false, "yes | no", NULL}
#define JOIN(name, text) " | " text
#define ONE_OF(KIND, kind) {0, KIND##_KIND_COUNT - 1, false, false, &KINDS_##KIND(JOIN)[3], kinds_##kind##_names}

const struct setting settings_table[SETTINGS_COUNT] = {
#define X(section, type, key, text, range, condition, numbers, help)                                                            \
    {SETTINGS_SECTION_##section, SETTINGS_TYPE_##type, #key, text, range, SETTINGS_CONDITION_##condition, numbers, help,        \
     offsetof(struct settings, key), sizeof((struct settings *)NULL)->key},
    SETTINGS(X)
#undef X
};

const char *const settings_section_names[SETTINGS_SECTION_COUNT] = {
#define X(name, text) text,
    SETTINGS_SECTIONS(X)
#undef X
};

const char *const settings_type_names[SETTINGS_TYPE_COUNT] = {
#define X(name, text) text,
    SETTINGS_TYPES(X)
#undef X
};

const char *const settings_condition_texts[SETTINGS_CONDITION_COUNT] = {
#define X(name, expression, text) text,
    SETTINGS_CONDITIONS(X)
#undef X
};

/* Parsed once a thread: a million units are compared with it. */
static const struct settings *defaults(void)
{
    static _Thread_local struct settings parsed;
    static _Thread_local bool ready;
    for (int key = 0; !ready && key < SETTINGS_COUNT; key++)
        if (settings_table[key].default_text && settings_table[key].section != SETTINGS_SECTION_DERIVED)
            settings_text_set(&parsed, key, settings_table[key].default_text);
    ready = true;
    return &parsed;
}

void settings_defaults(struct settings *out)
{
    *out = *defaults();
}

int settings_find(const char *key)
{
    for (int i = 0; i < SETTINGS_COUNT; i++)
        if (settings_table[i].section != SETTINGS_SECTION_DERIVED && strcmp(settings_table[i].key, key) == 0)
            return i;
    return -1;
}

const char *settings_nearest(const char *text)
{
    const char *names[SETTINGS_COUNT];
    size_t count = 0;
    for (int i = 0; i < SETTINGS_COUNT; i++)
        if (settings_table[i].section != SETTINGS_SECTION_DERIVED)
            names[count++] = settings_table[i].key;
    return nearest_name(text, names, count);
}

bool settings_relevant(const struct settings *s, int key)
{
    switch (settings_table[key].condition) {
#define X(name, expression, text) case SETTINGS_CONDITION_##name: return expression;
        SETTINGS_CONDITIONS(X)
#undef X
    case SETTINGS_CONDITION_COUNT: break;
    }
    return false;
}

uint32_t settings_conditions(const struct settings *s)
{
    _Static_assert(SETTINGS_CONDITION_COUNT <= 32, "each has its bit");
    uint32_t held = 0;
#define X(name, expression, text) held |= (uint32_t)(expression) << SETTINGS_CONDITION_##name;
    SETTINGS_CONDITIONS(X)
#undef X
    return held;
}

void settings_prune(struct settings *settings)
{
    const uint32_t held = settings_conditions(settings); /* what conditions ask for is always read: none changes here */
    for (int key = 0; key < SETTINGS_COUNT; key++)
        if (!(held >> settings_table[key].condition & 1))
            settings_copy(settings, defaults(), key);
}

void settings_copy(struct settings *to, const struct settings *from, int key)
{
    size_t offset = settings_table[key].offset;
    memcpy((char *)to + offset, (const char *)from + offset, settings_table[key].size);
}

bool settings_same(const struct settings *a, const struct settings *b, int key)
{
    size_t offset = settings_table[key].offset;
    return memcmp((const char *)a + offset, (const char *)b + offset, settings_table[key].size) == 0;
}

bool settings_is_default(const struct settings *settings, int key)
{
    return settings_table[key].default_text && settings_same(settings, defaults(), key);
}

/* The settings of one unit, typed, and the table that describes them. */
#ifndef BNSWEEP_SWEEP_SETTINGS_H
#define BNSWEEP_SWEEP_SETTINGS_H

#include "bnsweep/base/hash.h"
#include "bnsweep/core/kinds.h"
#include "bnsweep/sweep/settings_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SETTINGS_NAME_SIZE = 64,
    SETTINGS_PATH_SIZE = 1024,
    SETTINGS_MAX_BLOCKS = 16,
    SETTINGS_MAX_LIST = 8,
    SETTINGS_PER_SEED = -1,                            /* task_seed: the unit's seed */
    SETTINGS_FREEZE_LINEAR = 1 << SETTINGS_MAX_BLOCKS, /* freeze: bit N-1 is convN, this one linear */
    SETTINGS_VALUE_SIZE = SETTINGS_PATH_SIZE           /* holds any formatted value and its ending zero */
};

/* channels in their order; lists of [measure] rising. */
struct settings_ints {
    int64_t count, values[SETTINGS_MAX_BLOCKS]; /* unused values are 0 */
};

struct settings_reals {
    int64_t count;
    double values[SETTINGS_MAX_LIST]; /* unused values are 0 */
};

#define SETTINGS_FIELD_INT(key) int64_t key;
#define SETTINGS_FIELD_REAL(key) double key;
#define SETTINGS_FIELD_BOOL(key) bool key;
#define SETTINGS_FIELD_CHOICE(key) int key; /* an enum of core/kinds.h */
#define SETTINGS_FIELD_NAME(key) char key[SETTINGS_NAME_SIZE];
#define SETTINGS_FIELD_PATH(key) char key[SETTINGS_PATH_SIZE];
#define SETTINGS_FIELD_SEED(key) int64_t key;
#define SETTINGS_FIELD_FREEZE(key) int64_t key;
#define SETTINGS_FIELD_CHANNELS(key) struct settings_ints key;
#define SETTINGS_FIELD_INTS(key) struct settings_ints key;
#define SETTINGS_FIELD_REALS(key) struct settings_reals key;
#define SETTINGS_FIELD_DIGEST(key) char key[HASH_HEX_SIZE];

/* One field a setting, named like its key: s.lr, s.optimizer, ... A plain value: copy it freely. */
struct settings {
#define X(section, type, key, text, range, condition, numbers, help) SETTINGS_FIELD_##type(key)
    SETTINGS(X)
#undef X
};

/* SETTING_lr and so on: the index in settings_table. */
enum settings_key {
#define X(section, type, key, text, range, condition, numbers, help) SETTING_##key,
    SETTINGS(X)
#undef X
        SETTINGS_COUNT
};

enum settings_type {
#define X(name, text) SETTINGS_TYPE_##name,
    SETTINGS_TYPES(X)
#undef X
        SETTINGS_TYPE_COUNT
};

enum settings_section {
#define X(name, text) SETTINGS_SECTION_##name,
    SETTINGS_SECTIONS(X)
#undef X
        SETTINGS_SECTION_COUNT
};

enum settings_condition {
#define X(name, expression, text) SETTINGS_CONDITION_##name,
    SETTINGS_CONDITIONS(X)
#undef X
        SETTINGS_CONDITION_COUNT
};

/* What a number, or each number of a list, may be. */
struct settings_range {
    double low, high;
    bool low_open, high_open;       /* the limit itself is not allowed */
    const char *text;               /* "0..9", ">= 0", "batch | group", ... */
    const char *const *names;       /* of a choice, (int)high + 1 of them; else NULL */
};

struct setting {
    enum settings_section section;
    enum settings_type type;
    const char *key;
    const char *default_text; /* NULL: required */
    struct settings_range range;
    enum settings_condition condition;
    bool numbers; /* can change a measured number */
    const char *help;
    size_t offset, size; /* of the field in struct settings */
};

/* One entry for each enum settings_key, in that order. Rows of SETTINGS_SECTION_DERIVED cannot be set by users. */
extern const struct setting settings_table[SETTINGS_COUNT];

/* "sweep", by enum settings_section; "whole number", by enum settings_type; "optimizer = sgd", or "" for always, by enum
 * settings_condition. */
extern const char *const settings_section_names[SETTINGS_SECTION_COUNT];
extern const char *const settings_type_names[SETTINGS_TYPE_COUNT];
extern const char *const settings_condition_texts[SETTINGS_CONDITION_COUNT];

/* Give every setting its default; required ones are 0 or "". */
void settings_defaults(struct settings *out);

/* Return the index of a key that users may set; -1 where there is none. */
int settings_find(const char *key);

/* Return the user's key that is spelled most like `text`. */
const char *settings_nearest(const char *text);

/* Return whether any part of the program reads the setting in this combination. */
bool settings_relevant(const struct settings *settings, int key);

/* Return which conditions hold, bit N for enum settings_condition N: to ask for many keys of one combination. */
uint32_t settings_conditions(const struct settings *settings);

/* Give the settings that are not read in this combination their defaults, so that equal units are equal bytes. */
void settings_prune(struct settings *settings);

/* Copy one setting. */
void settings_copy(struct settings *to, const struct settings *from, int key);

/* Return whether one setting is the same in both. */
bool settings_same(const struct settings *a, const struct settings *b, int key);

/* Return whether a setting has its default; false for a required one. */
bool settings_is_default(const struct settings *settings, int key);

#endif

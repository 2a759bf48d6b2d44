/* The static parsers return NULL, or what is wrong with the text, as settings_parse does. */
#include "bnsweep/sweep/settings_parse.h"

#include "bnsweep/sweep/number.h"

#include <stdlib.h>
#include <string.h>

static bool in_range(double value, const struct settings_range *range)
{
    bool low = range->low_open ? value > range->low : value >= range->low;
    bool high = range->high_open ? value < range->high : value <= range->high;
    return low && high;
}

static const char *parse_int(const char *text, const struct settings_range *range, int64_t *out)
{
    const char *wrong = number_int(text, out);
    return wrong ? wrong : in_range((double)*out, range) ? NULL : "is out of range";
}

static const char *parse_real(const char *text, const struct settings_range *range, double *out)
{
    const char *wrong = number_real(text, out);
    return wrong ? wrong : in_range(*out, range) ? NULL : "is out of range";
}

static const char *parse_choice(const char *text, const struct settings_range *range, int *out)
{
    for (int i = 0; i <= (int)range->high; i++)
        if (strcmp(range->names[i], text) == 0) {
            *out = i;
            return NULL;
        }
    return "is none of the choices";
}

static const char *parse_name(const char *text, char out[SETTINGS_NAME_SIZE])
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (strlen(text) >= SETTINGS_NAME_SIZE)
        return "is longer than 63 characters";
    if (strspn(text, allowed) != strlen(text))
        return "has other characters";
    if (*text == '.' || *text == '-')
        return "begins with a dot or a dash";
    memset(out, 0, SETTINGS_NAME_SIZE);
    memcpy(out, text, strlen(text));
    return NULL;
}

static const char *parse_path(const char *text, char out[SETTINGS_PATH_SIZE])
{
    if (strlen(text) >= SETTINGS_PATH_SIZE)
        return "is longer than 1023 bytes";
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return "has a control character";
    memset(out, 0, SETTINGS_PATH_SIZE);
    memcpy(out, text, strlen(text));
    return NULL;
}

/* Copy the next piece up to `separator` without surrounding blanks, and move `text` behind it (NULL at the end).
 * False where it is empty or longer than any value can be. */
static bool next_piece(const char **text, char separator, char out[NUMBER_SIZE])
{
    const char *start = *text + strspn(*text, " \t"), *end = strchr(*text, separator);
    size_t length = end ? (size_t)(end - *text) : strlen(*text);
    const char *stop = *text + length;
    *text = end ? end + 1 : NULL;
    while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    if (stop <= start || stop - start >= NUMBER_SIZE)
        return false;
    memcpy(out, start, (size_t)(stop - start));
    out[stop - start] = 0;
    return true;
}

static int compare_ints(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *parse_ints(
    const char *text, char separator, int most, const struct settings_range *range, struct settings_ints *out)
{
    char piece[NUMBER_SIZE];
    struct settings_ints list = {0};
    while (text) {
        if (list.count == most)
            return "has too many numbers";
        if (!next_piece(&text, separator, piece))
            return "is no list of numbers";
        const char *wrong = parse_int(piece, range, &list.values[list.count++]);
        if (wrong)
            return wrong;
    }
    *out = list;
    return NULL;
}

/* The order of a list means nothing, so it is kept rising: equal lists are equal bytes. */
static const char *parse_int_list(const char *text, const struct settings_range *range, struct settings_ints *out)
{
    struct settings_ints list;
    const char *wrong = parse_ints(text, ',', SETTINGS_MAX_LIST, range, &list);
    if (wrong)
        return wrong;
    qsort(list.values, (size_t)list.count, sizeof *list.values, compare_ints);
    for (int i = 1; i < list.count; i++)
        if (list.values[i] == list.values[i - 1])
            return "has a number twice";
    *out = list;
    return NULL;
}

static const char *parse_real_list(const char *text, const struct settings_range *range, struct settings_reals *out)
{
    char piece[NUMBER_SIZE];
    struct settings_reals list = {0};
    while (text) {
        if (list.count == SETTINGS_MAX_LIST)
            return "has too many numbers";
        if (!next_piece(&text, ',', piece))
            return "is no list of numbers";
        const char *wrong = parse_real(piece, range, &list.values[list.count++]);
        if (wrong)
            return wrong;
    }
    qsort(list.values, (size_t)list.count, sizeof *list.values, compare_reals);
    for (int i = 1; i < list.count; i++)
        if (list.values[i] == list.values[i - 1])
            return "has a number twice";
    *out = list;
    return NULL;
}

static const char *parse_freeze(const char *text, int64_t *out)
{
    static const struct settings_range blocks = {1, SETTINGS_MAX_BLOCKS, false, false, "", NULL};
    if (strcmp(text, "none") == 0) {
        *out = 0;
        return NULL;
    }
    char piece[NUMBER_SIZE];
    int64_t mask = 0;
    while (text) {
        int64_t block = 0, bit = SETTINGS_FREEZE_LINEAR;
        if (!next_piece(&text, '-', piece))
            return "is no list of layers";
        if (strcmp(piece, "linear") != 0) {
            if (strncmp(piece, "conv", 4) != 0 || parse_int(piece + 4, &blocks, &block))
                return "names an unknown layer";
            bit = (int64_t)1 << (block - 1);
        }
        if (mask & bit)
            return "names a layer twice";
        mask |= bit;
    }
    *out = mask;
    return NULL;
}

static const char *parse_bool(const char *text, bool *out)
{
    *out = strcmp(text, "yes") == 0;
    return *out || strcmp(text, "no") == 0 ? NULL : "is neither yes nor no";
}

static const char *parse_seed(const char *text, const struct settings_range *range, int64_t *out)
{
    if (strcmp(text, "per-seed") != 0)
        return parse_int(text, range, out);
    *out = SETTINGS_PER_SEED;
    return NULL;
}

static const char *parse_digest(const char *text, char out[HASH_HEX_SIZE])
{
    struct hash hash;
    if (!hash_from_hex(text, &hash))
        return "is no hash";
    memcpy(out, text, HASH_HEX_SIZE);
    return NULL;
}

static const char *parse_type(void *field, const struct setting *setting, const char *text)
{
    switch (setting->type) {
    case SETTINGS_TYPE_INT: return parse_int(text, &setting->range, field);
    case SETTINGS_TYPE_REAL: return parse_real(text, &setting->range, field);
    case SETTINGS_TYPE_BOOL: return parse_bool(text, field);
    case SETTINGS_TYPE_CHOICE: return parse_choice(text, &setting->range, field);
    case SETTINGS_TYPE_NAME: return parse_name(text, field);
    case SETTINGS_TYPE_PATH: return parse_path(text, field);
    case SETTINGS_TYPE_SEED: return parse_seed(text, &setting->range, field);
    case SETTINGS_TYPE_FREEZE: return parse_freeze(text, field);
    case SETTINGS_TYPE_CHANNELS: return parse_ints(text, '-', SETTINGS_MAX_BLOCKS, &setting->range, field);
    case SETTINGS_TYPE_INTS: return parse_int_list(text, &setting->range, field);
    case SETTINGS_TYPE_REALS: return parse_real_list(text, &setting->range, field);
    case SETTINGS_TYPE_DIGEST: return parse_digest(text, field);
    case SETTINGS_TYPE_COUNT: break;
    }
    return "has an unknown type";
}

const char *settings_parse(struct settings *settings, int key, const char *text)
{
    if (!*text)
        return "is empty";
    const struct setting *setting = &settings_table[key];
    struct settings changed;
    const char *wrong = parse_type((char *)&changed + setting->offset, setting, text);
    if (!wrong)
        settings_copy(settings, &changed, key);
    return wrong;
}

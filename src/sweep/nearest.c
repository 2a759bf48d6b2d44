#include "bnsweep/sweep/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t length_a = strnlen(a, LONGEST), length_b = strnlen(b, LONGEST);
    size_t cost[3][LONGEST + 1]; /* rows i-2, i-1 and i, by i % 3 */
    for (size_t j = 0; j <= length_b; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = cost[i % 3], *last = cost[(i + 2) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            row[j] = smaller(last[j - 1] + !same(a[i - 1], b[j - 1]), 1 + smaller(last[j], row[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], cost[(i + 1) % 3][j - 2] + 1);
        }
    }
    return cost[length_a % 3][length_b];
}

const char *nearest_name(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = 0;
    for (size_t i = 0; i < count; i++) {
        size_t distance = nearest_distance(text, names[i]);
        if (!best || distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

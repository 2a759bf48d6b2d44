#include "bnsweep/sweep/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *number_int(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return "is not a whole number";
    errno = 0;
    intmax_t value = strtoimax(text, NULL, 10);
    if (errno == ERANGE || value < INT64_MIN || value > INT64_MAX)
        return "is too large";
    *out = value;
    return NULL;
}

const char *number_real(const char *text, double *out)
{
    /* strtod would also take blanks, hexadecimal, inf and nan. */
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text))
        return "is not a number";
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end)
        return "is not a number";
    if (errno == ERANGE)
        return fabs(value) > 1 ? "is too large" : "is too close to zero";
    *out = value + 0.0;
    return NULL;
}

static void format_shortest(double value, char out[NUMBER_SIZE])
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

/* Most of a sweep's numbers are a few values again and again: the last ones of this thread are kept. */
void number_format(double value, char out[NUMBER_SIZE])
{
    enum { PLACES = 64 };
    static _Thread_local struct {
        bool used;
        uint64_t bits;
        char text[NUMBER_SIZE];
    } kept[PLACES];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t place = (bits ^ bits >> 29 ^ bits >> 47) % PLACES;
    if (!kept[place].used || kept[place].bits != bits) {
        format_shortest(value, kept[place].text);
        kept[place].bits = bits;
        kept[place].used = true;
    }
    memcpy(out, kept[place].text, NUMBER_SIZE);
}

void number_format_int(int64_t value, char out[NUMBER_SIZE])
{
    char digits[NUMBER_SIZE];
    size_t count = 0, at = 0;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[count++] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        out[at++] = '-';
    while (count)
        out[at++] = digits[--count];
    out[at] = '\0';
}

double number_round(double value, int digits)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL) + 0.0;
}

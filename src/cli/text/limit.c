#include "limit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, MOST_DIGITS = 9 };

/* Take digits and, where one follows, a separator. */
static bool take_number(const char **at, const char *separators, double *out)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits < 1 || digits > MOST_DIGITS)
        return false;
    *out = (double)strtol(*at, NULL, 10);
    *at += digits;
    if (!**at)
        return true;
    return strchr(separators, *(*at)++) && isdigit((unsigned char)**at);
}

bool limit_parse(const char *text, double *seconds)
{
    /* What the first number means depends on how many follow, and on whether the first separator is the one after days. */
    static const double plain[][3] = {{MINUTE}, {MINUTE, 1}, {HOUR, MINUTE, 1}}, after_days[] = {HOUR, MINUTE, 1};
    double numbers[3] = {0}, days = 0, sum = 0;
    size_t count = 0;
    const char *at = text;
    bool has_days = strchr(text, '-') != NULL;
    if (has_days && (!take_number(&at, "-", &days) || !*at))
        return false;
    for (; *at && count < 3; count++)
        if (!take_number(&at, ":", &numbers[count]))
            return false;
    if (*at || !count)
        return false;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] * (has_days ? after_days[i] : plain[count - 1][i]);
    sum += days * DAY;
    if (sum < 1 || sum > 36525.0 * DAY)
        return false;
    *seconds = sum;
    return true;
}

void limit_format(double seconds, char out[LIMIT_SIZE])
{
    long long whole = (long long)seconds, days = whole / DAY;
    int length = days ? snprintf(out, LIMIT_SIZE, "%lld-%02lld", days, whole % DAY / HOUR) : snprintf(out, LIMIT_SIZE, "%lld", whole / HOUR);
    snprintf(out + length, LIMIT_SIZE - (size_t)length, ":%02lld:%02lld", whole % HOUR / MINUTE, whole % MINUTE);
}

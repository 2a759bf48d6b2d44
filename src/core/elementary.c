#include "bnsweep/core/elementary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PI 3.14159265358979323846
#define LN2_HIGH 0x1.62e42fefa38p-1 /* 41 bits, so that k * LN2_HIGH is exact */
#define LN2_LOW 0x1.ef35793c7673p-45

/* Sum of terms[0] + terms[1] x + ... by Horner's rule. */
static double polynomial(const double *terms, int count, double x)
{
    double sum = terms[count - 1];
    for (int i = count - 2; i >= 0; i--)
        sum = sum * x + terms[i];
    return sum;
}

static double scale_by_power_of_two(double x, int power)
{
    uint64_t bits = (uint64_t)(1023 + power) << 52;
    double factor;
    memcpy(&factor, &bits, sizeof factor);
    return x * factor;
}

double elementary_exp(double x)
{
    static const double terms[] = {1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                                   1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    if (isnan(x))
        return x;
    if (x < -708)
        return 0;
    if (x > 709)
        return INFINITY;
    double k = rint(x * (1 / 0.693147180559945309417));
    double r = (x - k * LN2_HIGH) - k * LN2_LOW; /* |r| <= ln(2)/2 */
    double e = 1 + (r + r * r * (0.5 + r * polynomial(terms, 11, r)));
    return k > 1000 ? scale_by_power_of_two(e, (int)k - 1) * 2 : scale_by_power_of_two(e, (int)k);
}

double elementary_log(double x)
{
    static const double terms[] = {1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
    if (!(x > 0))
        return x < 0 || isnan(x) ? NAN : -INFINITY;
    if (isinf(x))
        return x;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.41421356237309504880) {
        m *= 0.5;
        exponent++;
    }
    double s = (m - 1) / (m + 1), s2 = s * s; /* ln m = 2 atanh s, |s| < 0.172 */
    double tail = 2 * s * s2 * polynomial(terms, 10, s2);
    return exponent * LN2_HIGH + (2 * s + (tail + exponent * LN2_LOW));
}

/* sin x and cos x for |x| <= pi/4 by Taylor's series. */
static double sine(double x)
{
    static const double terms[] = {1,           -1.0 / 6,         1.0 / 120,        -1.0 / 5040,        1.0 / 362880,
                                   -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    return x * polynomial(terms, 9, x * x);
}

static double cosine(double x)
{
    static const double terms[] = {1,           -0.5,            1.0 / 24,          -1.0 / 720,          1.0 / 40320,
                                   -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
    return polynomial(terms, 9, x * x);
}

double elementary_cospi(double t)
{
    if (t <= 0.25)
        return cosine(PI * t);
    if (t < 0.75)
        return sine(PI * (0.5 - t));
    return -cosine(PI * (1 - t));
}

double elementary_atan2(double y, double x)
{
    static const double terms[] = {1, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15};
    if (isnan(x) || isnan(y))
        return NAN;
    if (y == 0)
        return x < 0 ? PI : 0;
    double a = fabs(x), small = a < y ? a : y, large = a < y ? y : a;
    double t = small / large;
    for (int halving = 0; halving < 3; halving++) /* tan(v/2) = t / (1 + sqrt(1 + t^2)); then |t| < 0.0985 */
        t = t / (1 + sqrt(1 + t * t));
    double angle = 8 * t * polynomial(terms, 8, t * t);
    if (a < y)
        angle = PI / 2 - angle;
    return x < 0 ? PI - angle : angle;
}

double elementary_power(double base, unsigned long long exponent)
{
    double result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

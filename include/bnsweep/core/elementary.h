/* Elementary functions whose bits are the same on every machine: only correctly rounded operations in a fixed order.
 * (A C library picks its own by processor.) Relative error below 4e-16 unless said otherwise. */
#ifndef BNSWEEP_CORE_ELEMENTARY_H
#define BNSWEEP_CORE_ELEMENTARY_H

/* e to the x; 0 below -708, infinity above 709, NaN for NaN. */
double elementary_exp(double x);

/* Natural logarithm of a positive normal number; -infinity for 0, NaN for negative numbers. */
double elementary_log(double x);

/* Cosine of pi times t, 0 <= t <= 1; absolute error below 3e-16. */
double elementary_cospi(double t);

/* Angle of the point (x, y), y >= 0, in radians from 0 to pi (atan2); 0 for the origin. Relative error below 1e-15. */
double elementary_atan2(double y, double x);

/* base to a whole power, by repeated squaring. */
double elementary_power(double base, unsigned long long exponent);

#endif

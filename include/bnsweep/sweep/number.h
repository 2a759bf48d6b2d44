/* Decimal numbers as text, read strictly and written shortest. */
#ifndef BNSWEEP_SWEEP_NUMBER_H
#define BNSWEEP_SWEEP_NUMBER_H

#include <stdint.h>

enum { NUMBER_SIZE = 32 };

/* Read a whole decimal number, all of `text`. Return NULL, or what is wrong ("is not a whole number"). */
const char *number_int(const char *text, int64_t *out);

/* Read a finite decimal number, all of `text`: no hexadecimal, infinity or NaN; -0 becomes 0. Return NULL, or what is wrong. */
const char *number_real(const char *text, double *out);

/* Write the shortest decimal that reads back to the same double: 0.003, 3e-05, 128. */
void number_format(double value, char out[NUMBER_SIZE]);

/* Return `value` rounded to `digits` (1..17) significant decimal digits. */
double number_round(double value, int digits);

/* Write the number as "%lld" does, without printf's price. */
void number_format_int(int64_t value, char out[NUMBER_SIZE]);

#endif

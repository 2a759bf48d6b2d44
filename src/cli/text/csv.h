/* Fields of comma-separated values, quoted as RFC 4180 says; the caller writes the commas and line ends. */
#ifndef BNSWEEP_CLI_CSV_H
#define BNSWEEP_CLI_CSV_H

#include <stdio.h>

enum { CSV_NUMBER_SIZE = 32 };

void csv_text(FILE *out, const char *text);

/* Write the shortest decimal that reads back to the same float, or double; "" for NaN. */
void csv_format_float(float value, char out[CSV_NUMBER_SIZE]);
void csv_format_real(double value, char out[CSV_NUMBER_SIZE]);

/* The same as a field. */
void csv_float(FILE *out, float value);
void csv_real(FILE *out, double value);

#endif

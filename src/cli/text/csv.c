#include "csv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void csv_text(FILE *out, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* Up to FLT_DIG (DBL_DIG) digits a decimal survives the way through the type, so that a shorter one would have come out of %g. */
void csv_format_float(float value, char out[CSV_NUMBER_SIZE])
{
    out[0] = '\0';
    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG && !isnan(value); digits++) {
        snprintf(out, CSV_NUMBER_SIZE, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            break;
    }
}

void csv_format_real(double value, char out[CSV_NUMBER_SIZE])
{
    out[0] = '\0';
    for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG && !isnan(value); digits++) {
        snprintf(out, CSV_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
}

void csv_float(FILE *out, float value)
{
    char text[CSV_NUMBER_SIZE];
    csv_format_float(value, text);
    fputs(text, out);
}

void csv_real(FILE *out, double value)
{
    char text[CSV_NUMBER_SIZE];
    csv_format_real(value, text);
    fputs(text, out);
}

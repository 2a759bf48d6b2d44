/* Moments and spans of time as texts. */
#ifndef BNSWEEP_CLI_MOMENT_H
#define BNSWEEP_CLI_MOMENT_H

enum { MOMENT_SIZE = 32 };

/* Write "2026-03-01T12:00:00Z" for seconds since 1970; "-" for NaN. */
void moment_utc(double seconds, char out[MOMENT_SIZE]);

/* Write "12 s", "3:05 min" or "2:03:05 h"; "-" for NaN. */
void moment_span(double seconds, char out[MOMENT_SIZE]);

#endif

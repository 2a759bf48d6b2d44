/* What one core of this machine can do at most: arithmetic from registers, and memory. */
#ifndef BNSWEEP_CLI_PEAK_H
#define BNSWEEP_CLI_PEAK_H

#include "bnsweep/base/status.h"

#include <stddef.h>

enum { PEAK_TRIAD_ARRAY = 64 << 20 }; /* bytes of each of three arrays: more than the cache one core can fill */

/* Return the name of the widest arithmetic that this processor has and peak_fma knows: "avx512f", "avx2,fma" or "baseline". */
const char *peak_instructions(void);

/* Return float operations a second (a multiply-add counts 2) in a loop that touches registers only: the median of bursts of some
 * milliseconds (a virtual machine's clock makes the best one too good), for about `seconds`. */
double peak_fma(double seconds);

/* Measure bytes a second of a[i] = b[i] + s c[i], 12 bytes an element counted, over three arrays of PEAK_TRIAD_ARRAY bytes: the best
 * of a few passes. STATUS_NOMEM. */
enum status peak_triad(double *out);

#endif

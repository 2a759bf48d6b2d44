#include "bnsweep/core/channels.h"

#include <string.h>

void channels_dot(size_t length, size_t channels, const real *a, const real *b, double *out)
{
    memset(out, 0, channels * sizeof *out);
    for (size_t k = 0; k < length; k++, a += channels, b += channels)
        for (size_t c = 0; c < channels; c++)
            out[c] += (double)a[c] * (double)b[c];
}

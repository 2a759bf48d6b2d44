/* How the engine computes each convolution of a sweep's network. */
#ifndef BNSWEEP_CLI_GEOMETRY_H
#define BNSWEEP_CLI_GEOMETRY_H

#include "bnsweep/core/net.h"
#include "bnsweep/sweep/settings.h"

/* method[i] = "winograd", "direct" or "im2row" for block i; return the number of blocks, 0 where it is not known (the
 * images are a file's, and it cannot be read). */
size_t geometry_methods(const struct settings *settings, const char *method[NET_MAX_BLOCKS]);

#endif

#include "bnsweep/core/kinds.h"

#define X(name, text) text,
#define Y(upper, lower) const char *const kinds_##lower##_names[upper##_KIND_COUNT] = {KINDS_##upper(X)};
KINDS_ALL(Y)

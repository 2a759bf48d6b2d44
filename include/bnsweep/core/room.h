/* Memory that parts lend one another: what one leaves there is lost when another works. */
#ifndef BNSWEEP_CORE_ROOM_H
#define BNSWEEP_CORE_ROOM_H

#include "bnsweep/core/real.h"

#include <stddef.h>

/* at[size]; not owned. All 0 is none. */
struct room {
    real *at;
    size_t size;
};

#endif

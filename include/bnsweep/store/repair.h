/* Going on from a journal that a run refuses: damaged in its middle or its header, or with entries missing before it. */
#ifndef BNSWEEP_STORE_REPAIR_H
#define BNSWEEP_STORE_REPAIR_H

#include "bnsweep/base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct repair_report {
    bool needed;              /* false: nothing was wrong, nothing was touched */
    bool foreign;             /* the journal belongs to another store: it was put aside, and nothing taken from it */
    char problem[1024];       /* why a run refuses */
    char kept[PATH_MAX];      /* where the journal is now */
    uint64_t entries, records; /* taken into the store; of those, measurements */
    uint64_t places, bytes;   /* damaged ones in the journal, and how many bytes are in them */
    uint64_t unusable;        /* whole entries that do not fit the store */
    uint64_t again;           /* units that ended, but lack a record, kept ones among them: a run trains them again */
};

/* Take the lock of the store at `path`, keep its journal under another name, and put all of it that can be read into the store. A unit
 * that ended behind the damage and has not all its records becomes pending; what it has stays. So does one unit of each trajectory
 * of which no unit has all that was to be kept for replays. May be ended and called again at
 * any moment. STATUS_INPUT (no store), STATUS_LOCKED, STATUS_VERSION (a newer journal), STATUS_CORRUPT (the store itself is
 * damaged), STATUS_IO, STATUS_NOMEM; then store and journal are as they were. */
enum status repair_store(const char *path, struct repair_report *out);

#endif

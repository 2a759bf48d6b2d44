#include "outlook_left.h"

#include <stdio.h>

enum status outlook_left_print(const struct outlook *o)
{
    static const char *const writers[] = {[LOCK_FREE] = "none", [LOCK_HELD] = "active", [LOCK_UNKNOWN] = "unknown"};
    size_t failed = o->counts[OUTLOOK_FAILED];
    if (o->refused)
        return STATUS_OK; /* its refusal is what there is to say */
    printf("left %zu, failed %zu, of %zu units; writer %s\n", o->to_train, failed, o->sweep.unit_count, writers[o->writer.state]);
    if (o->to_train)
        return status_fail(STATUS_INCOMPLETE, "%s", "");
    return failed ? status_fail(STATUS_FAILED, "%s", "") : STATUS_OK;
}

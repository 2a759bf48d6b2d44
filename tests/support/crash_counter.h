/* What crash_shim.c counts, shared between the processes of a run and its test. */
#ifndef BNSWEEP_TESTS_CRASH_COUNTER_H
#define BNSWEEP_TESTS_CRASH_COUNTER_H

#include <stdint.h>

#define CRASH_CALLS(X) \
    X(write)           \
    X(pwrite)          \
    X(copy_file_range) \
    X(rename)          \
    X(unlink)          \
    X(ftruncate)       \
    X(fallocate)       \
    X(fsync)           \
    X(fdatasync)

enum crash_call {
#define X(name) CRASH_##name,
    CRASH_CALLS(X)
#undef X
    CRASH_CALL_COUNT
};

struct crash_counter {
    uint32_t calls;                   /* in all */
    uint32_t kinds[CRASH_CALL_COUNT];
    uint32_t met;                     /* the call at which the process ended, plus one; 0: none */
};

#endif

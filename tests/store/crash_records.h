/* The records that crash_driver.c writes, each of another unit or check. */
#ifndef BNSWEEP_TESTS_STORE_CRASH_RECORDS_H
#define BNSWEEP_TESTS_STORE_CRASH_RECORDS_H

#include "fixture.h"

enum { CRASH_UNITS = 12, CRASH_RECORDS = CRASH_UNITS * FIXTURE_CHECKS, CRASH_COMMIT = 3 };

/* All first checks, then all second ones ...: commits touch several units. */
static inline size_t crash_unit(unsigned char number)
{
    return number % CRASH_UNITS;
}

static inline uint32_t crash_check(unsigned char number)
{
    return number / CRASH_UNITS;
}

#endif

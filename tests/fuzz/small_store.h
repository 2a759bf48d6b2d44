/* The smallest store that has every kind of variable: two units, one check, one sample, two channels. */
#ifndef BNSWEEP_TESTS_FUZZ_SMALL_STORE_H
#define BNSWEEP_TESTS_FUZZ_SMALL_STORE_H

#include "../store/fixture.h"

enum { SMALL_STORE_UNITS = 2 };

static inline struct layout small_store_layout(void)
{
    struct layout layout = fixture_layout();
    layout.extent = (struct variables_extent){.checks = 1, .samples = 1, .channels = 2, .layers = 1};
    layout.column_count = 3;
    return layout;
}

/* Open or make the store at `path`; abort where that fails. */
static inline struct writer *small_store_open(const char *path, struct writer_unit units[SMALL_STORE_UNITS])
{
    struct layout layout = small_store_layout();
    struct writer *writer;
    if (fixture_open(path, &layout, SMALL_STORE_UNITS, units, &writer))
        abort();
    return writer;
}

#endif

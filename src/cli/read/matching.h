/* The units of two stores, matched by identity. */
#ifndef BNSWEEP_CLI_MATCHING_H
#define BNSWEEP_CLI_MATCHING_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/store/reader.h"

struct matching_pair {
    uint64_t a, b; /* rows */
};

/* Zero-initialise; free with matching_free. */
struct matching {
    struct matching_pair *pairs;  /* [pair_count] owned, by the row in A */
    size_t pair_count;
    uint64_t *only_a, *only_b;    /* [only_a_count], [only_b_count] owned: rows without a partner, rising */
    size_t only_a_count, only_b_count;
};

/* Match all units. The caller frees `out` also on failure. STATUS_CORRUPT (no identity, or one twice in a store), STATUS_NOMEM. */
enum status matching_make(const struct reader *a, const struct reader *b, struct matching *out);

void matching_free(struct matching *matching);

#endif

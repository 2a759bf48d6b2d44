/* How the units of a store stand, with what is committed to the journal but not published yet. */
#ifndef BNSWEEP_STORE_READER_UNIT_H
#define BNSWEEP_STORE_READER_UNIT_H

#include "bnsweep/store/reader.h"

struct reader_unit {
    uint64_t row;
    struct hash identity;
    char *arm, *host, *reason; /* owned */
    enum unit_status status;
    uint32_t attempts;
    int32_t rank;
    double started, seconds;   /* unix seconds of the last attempt; spent in all (NaN: not known) */
    uint32_t checks;           /* recorded */
    char weights_init[HASH_HEX_SIZE], weights[HASH_HEX_SIZE], statistics[HASH_HEX_SIZE]; /* as published; "" before the end */
};

/* Read units [first, first + count) into out[count]; free with reader_unit_free also on failure. STATUS_CORRUPT, STATUS_NOMEM. */
enum status reader_unit_list(const struct reader *reader, uint64_t first, size_t count, struct reader_unit *out);

void reader_unit_free(struct reader_unit *units, size_t count);

#endif

/* What a trained unit says: its measured values, and how it ended. The same bytes go through the pipe, MPI and the journal. */
#ifndef BNSWEEP_MEASURE_RECORD_H
#define BNSWEEP_MEASURE_RECORD_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/pack.h"
#include "bnsweep/base/status.h"
#include "bnsweep/measure/variables.h"

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, number, printable name): the numbers are sent and stored. */
#define RECORD_KINDS(X)      \
    X(VALUES, 1, "values")   \
    X(END, 2, "end")

enum record_kind {
#define X(name, number, text) RECORD_##name = number,
    RECORD_KINDS(X)
#undef X
};

/* How a unit ended; the store's `status` uses its own numbers (pending, running, ...). */
enum record_outcome { RECORD_DONE = 0, RECORD_DIVERGED = 1 };

enum { RECORD_APPLIED_SIZE = 8192, RECORD_MAX_VALUES = 1 << 24 };

/* One record of one unit. VALUES: all variables of `group` at position `index` (check, sample or step number, from 0), and for kept
 * groups (variables_kept) at as many positions behind it as there are values for.
 * END: how it ended, the hashes, and the settings read back from the running network and optimizer as "key = value" lines. */
struct record {
    enum record_kind kind;
    /* VALUES */
    enum variable_group group;
    uint32_t index, count; /* `count` values, in the table's order: in `values`, or in `doubles` where the group has doubles */
    float *values;         /* not owned when packed; owned (mem_free by record_free) when unpacked */
    double *doubles;       /* the same */
    /* END */
    enum record_outcome outcome;
    uint64_t steps;         /* steps trained */
    double seconds;         /* training and measuring, over all attempts that contributed */
    struct hash weights_init, weights_final, statistics_final;
    char applied[RECORD_APPLIED_SIZE];
};

/* Append the record's bytes to `pack` (check pack->failed: STATUS_NOMEM). */
enum status record_pack(const struct record *record, struct pack *pack);

/* Read a record from `size` bytes; every length is checked. The caller frees it with record_free also on failure.
 * STATUS_CORRUPT with what is wrong, STATUS_NOMEM. */
enum status record_unpack(const void *bytes, size_t size, struct record *out);

void record_free(struct record *record);

/* Return whether the packed record is an END record, without reading the rest of it. */
bool record_is_end(const void *bytes, size_t size);

/* Return whether the packed record has values of a kept group (variables_kept). */
bool record_is_kept(const void *bytes, size_t size);

#endif

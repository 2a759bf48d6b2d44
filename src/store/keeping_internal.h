/* Which done units have kept the batch statistics and weights that keep_batch_stats asks for. */
#ifndef BNSWEEP_STORE_KEEPING_INTERNAL_H
#define BNSWEEP_STORE_KEEPING_INTERNAL_H

#include "bnsweep/base/hash.h"
#include "schema_internal.h"

/* A done unit whose trajectory should have kept them, in its row or in that of another of its units; or one that has been done and is
 * to be trained again, which then keeps all. */
struct keeping_unit {
    struct hash weights;  /* at the end: the units of one trajectory have the same */
    uint64_t row;
    bool last;            /* the batch statistics of its last step are there */
    enum variable_id gap; /* the first variable that lacks a position; VARIABLE_COUNT: all is there, or will be */
    size_t there, due;    /* positions of that variable before the gap, and how many there should be */
};

/* List all such units, those of a trajectory together and in rising rows; none where the store keeps nothing. `*out` is the caller's
 * (mem_free), NULL on failure. STATUS_CORRUPT, STATUS_NOMEM. */
enum status keeping_list(hid_t file, const struct schema *schema, struct keeping_unit **out, size_t *count);

/* Return where the trajectory of units[first] ends in the list; `*whole` is whether one of its units has all, or will have. */
size_t keeping_trajectory(const struct keeping_unit *units, size_t count, size_t first, bool *whole);

#endif

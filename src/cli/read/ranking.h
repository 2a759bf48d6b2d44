/* The units of a store as the rows of a table: those that differ in their seed alone are one row. */
#ifndef BNSWEEP_CLI_RANKING_H
#define BNSWEEP_CLI_RANKING_H

#include "frame.h"
#include "summary.h"

struct ranking_row {
    size_t first, count;                   /* in ranking.units */
    size_t units[UNIT_STATUS_COUNT];       /* how many are in each state */
    double mean[SUMMARY_COUNT], deviation[SUMMARY_COUNT]; /* over done units; NaN: of none, of fewer than two */
    size_t measured[SUMMARY_COUNT];        /* units that have it */
};

/* Zero-initialise; free with ranking_free. */
struct ranking {
    const struct frame *frame;           /* not owned */
    const struct frame_column **keys;    /* [key_count] owned: what tells rows of one arm apart, bn_momentum first */
    size_t key_count;
    size_t *units;                       /* [frame->rows] owned: row numbers, those of one table row together */
    struct ranking_row *rows;            /* [count] owned, by rising rotation, unknown ones last */
    size_t count;
};

/* Rank all units. The caller frees `out` also on failure. STATUS_CORRUPT, STATUS_NOMEM. */
enum status ranking_make(const struct frame *frame, struct ranking *out);

void ranking_free(struct ranking *ranking);

#endif

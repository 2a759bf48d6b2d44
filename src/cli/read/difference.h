/* Differences between two stores, counted and the first ones printed, one variable after the other. */
#ifndef BNSWEEP_CLI_DIFFERENCE_H
#define BNSWEEP_CLI_DIFFERENCE_H

#include "matching.h"

#include <stdbool.h>

struct difference {
    const struct reader *a, *b; /* not owned */
    const struct matching *matching; /* not owned */
    bool all;            /* also what says where, when and how the units ran */
    long most;           /* differences printed of a variable */
    uint64_t cells;      /* compared */
    uint64_t different;  /* of them */
    uint64_t variables;  /* with differences */
    uint64_t others;     /* axes, columns, attributes that only one store has or that differ */
};

/* Compare axes and, with `all`, the texts on the file. STATUS_CORRUPT, STATUS_NOMEM. */
enum status difference_of_stores(struct difference *to);

/* Compare the matched units' columns: settings, status, hashes; with `all` also host, rank, times, attempts and paths. */
enum status difference_of_columns(struct difference *to);

/* Compare all measured values of the matched units, bit by bit; what is kept once a trajectory, where both stores have kept it. */
enum status difference_of_values(struct difference *to);

/* Write ", check 3, channel 17" for a place in a unit's values. */
void difference_place(const struct reader *reader, enum variable_id id, size_t place, char out[128]);

#endif

/* What will be needed next, asked for while the multipliers work: a kernel fetches it into the cache a few lines at a time between its
 * products. Nothing depends on it but time. */
#ifndef BNSWEEP_CORE_AHEAD_H
#define BNSWEEP_CORE_AHEAD_H

#include "bnsweep/core/real.h"

#include <stddef.h>

enum {
    AHEAD_RANGES = 4,
    AHEAD_LINE = 64, /* bytes */
    AHEAD_MOST = 12  /* lines a step: more on their way hold up the kernel's own loads */
};

/* Ranges not yet fetched; all 0 is none. */
struct ahead {
    struct ahead_range {
        const char *at; /* not owned */
        size_t lines;
    } range[AHEAD_RANGES];
    size_t count, lines_a_step;
};

/* Ask for elements[count]; beyond AHEAD_RANGES it is forgotten. */
static inline void ahead_add(struct ahead *ahead, const real *elements, size_t count)
{
    size_t lines = count * sizeof(real) / AHEAD_LINE;
    if (lines && ahead->count < AHEAD_RANGES)
        ahead->range[ahead->count++] = (struct ahead_range){(const char *)elements, lines};
}

/* Spread what was asked for over a kernel's steps, about; what is too much for them is left to be fetched when it is used. */
static inline void ahead_begin(struct ahead *ahead, size_t steps)
{
    size_t lines = 0;
    for (size_t i = 0; i < ahead->count; i++)
        lines += ahead->range[i].lines;
    ahead->lines_a_step = steps ? (lines + steps - 1) / steps : 0;
    if (ahead->lines_a_step > AHEAD_MOST)
        ahead->lines_a_step = AHEAD_MOST;
}

/* Fetch a step's lines. */
static inline void ahead_step(struct ahead *ahead)
{
    for (size_t line = 0; line < ahead->lines_a_step && ahead->count; line++) {
        struct ahead_range *range = &ahead->range[ahead->count - 1];
        __builtin_prefetch(range->at);
        range->at += AHEAD_LINE;
        if (--range->lines == 0)
            ahead->count--;
    }
}

#endif

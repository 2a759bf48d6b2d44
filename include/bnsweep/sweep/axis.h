/* The values one key takes: a single one, a list, or a range. */
#ifndef BNSWEEP_SWEEP_AXIS_H
#define BNSWEEP_SWEEP_AXIS_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/settings.h"

#include <stddef.h>

enum { AXIS_MAX_VALUES = 10000000 };

/* Zero-initialise; free with axis_free. */
struct axis {
    int key;
    size_t count, size; /* values; bytes of one, the size of the key's field */
    unsigned char *values; /* [count][size], owned */
};

/* Read `text` into `out` (freed by the caller also on failure). Items are separated by commas; an item of a numeric key may be
 *   A..B         whole numbers, B included
 *   A..B:STEP    A, A + STEP, ... up to B; real values are rounded to 12 significant digits
 *   A..B log N   N values in geometric progression, ends included; inner ones rounded to 6 significant digits
 *                (of whole-number keys: to whole numbers)
 * For a key of [measure], and for name, the whole text is one value.
 * STATUS_INPUT with what was found and what is allowed; STATUS_NOMEM. */
enum status axis_parse(int key, const char *text, struct axis *out);

/* Put value `index` into its field of `settings`. */
void axis_apply(const struct axis *axis, size_t index, struct settings *settings);

/* Write value `index` in its canonical form. */
void axis_format(const struct axis *axis, size_t index, char out[SETTINGS_VALUE_SIZE]);

/* Append to `into` the values of `from`, an axis of the same key, that are not there yet, in their order.
 * STATUS_NOMEM; STATUS_INPUT past AXIS_MAX_VALUES. */
enum status axis_merge(struct axis *into, const struct axis *from);

void axis_free(struct axis *axis);

#endif

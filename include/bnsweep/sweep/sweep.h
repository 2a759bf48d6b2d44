/* A sweep: an INI file resolved to units. */
#ifndef BNSWEEP_SWEEP_SWEEP_H
#define BNSWEEP_SWEEP_SWEEP_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/axis.h"
#include "bnsweep/sweep/grid.h"
#include "bnsweep/sweep/settings.h"

#include <stddef.h>

/* Zero-initialise; read-only for callers. */
struct sweep {
    const char *name;
    const char *text;     /* the file verbatim, text_size bytes and an ending zero */
    size_t text_size;
    const char *resolved; /* a sweep file of the same units with every setting that is read; hashes and --set as comments */
    size_t unit_count;
    const struct hash *identities; /* [unit_count] */
    struct axis *axes;    /* [axis_count] keys with more than one value in an arm, and the distinct values over all arms */
    size_t axis_count;
    struct grid grid;     /* arms, with their names in grid.arms[i].name */
    struct arena arena;   /* owns the texts, identities and `axes`, but not the axes' values */
};

/* Read a sweep file, apply `count` overrides "key=value", and check everything that can be checked before training. An override
 * wins over every section that sets the same key. Relative paths, in overrides too, start at the file's folder.
 * The caller frees `out` with sweep_free also on failure.
 * STATUS_INPUT with place, finding and what is allowed; STATUS_IO where a file cannot be read to its end; STATUS_NOMEM. */
enum status sweep_load(const char *path, const char *const *overrides, size_t count, struct sweep *out);

/* Give unit `index`'s settings, and in `arm` (NULL allowed) its arm's name, owned by the sweep. STATUS_INPUT past the last unit. */
enum status sweep_unit(const struct sweep *sweep, size_t index, struct settings *out, const char **arm);

void sweep_free(struct sweep *sweep);

#endif

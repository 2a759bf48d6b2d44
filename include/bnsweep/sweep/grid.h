/* The arms and axes of a sweep file, and the units they span. */
#ifndef BNSWEEP_SWEEP_GRID_H
#define BNSWEEP_SWEEP_GRID_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/sweep/axis.h"
#include "bnsweep/sweep/inifile.h"
#include "bnsweep/sweep/settings.h"

#include <stdbool.h>
#include <stddef.h>

enum { GRID_MAX_UNITS = 10000000, GRID_TEXT_SIZE = 512 };

/* Where a key was set; GRID_BASE is one of [sweep], [task], [network], [train], [measure]. */
enum grid_place { GRID_BASE, GRID_GRID, GRID_ARM, GRID_OVERRIDE };

/* One "key = value" of the file or of --set. */
struct grid_entry {
    enum grid_place place;
    int key, line;
    size_t arm;                 /* with GRID_ARM */
    const char *section, *text; /* the section's name; the value as written */
    bool overridden;            /* --set sets the same key: this entry counts no more */
    bool used;                  /* at least one unit reads it */
    struct axis axis;           /* one value, or more for an axis */
};

struct grid_arm {
    const char *name;
    int line;                      /* 0: the arm is not in the file */
    struct settings base;          /* defaults and the first value of each entry */
    int source[SETTINGS_COUNT];    /* the entry that sets a key in this arm; -1: the default */
    bool given[SETTINGS_COUNT];    /* source is not -1 */
    bool relevant[SETTINGS_COUNT]; /* read by at least one unit (known after grid_check) */
    size_t *axes, axis_count;      /* entries with more than one value; the last varies fastest */
    size_t first, count;           /* units */
};

struct grid_file {
    const char *path;
    char hash[HASH_HEX_SIZE];
};

/* Zero-initialise. */
struct grid {
    const char *path, *folder;  /* of the sweep file; the folder is absolute */
    struct grid_entry *entries; /* in file order, those of --set last */
    size_t entry_count;
    struct grid_arm *arms; /* in file order; at least one */
    size_t arm_count;
    struct grid_file *files; /* the data and init files, each path once */
    size_t file_count;
    size_t unit_count;
    struct arena arena; /* owns all but the axes' values */
};

/* Build the grid from a parsed file and `count` overrides "key=value", and hash the files it names. `file` may be freed
 * afterwards. The caller frees `out` with grid_free also on failure. STATUS_INPUT with "path:line: [section] key = value: ..." or
 * "--set key=value: ..."; STATUS_IO, STATUS_NOMEM. */
enum status grid_build(const struct inifile *file, const char *const *overrides, size_t count, struct grid *out);

/* Decode unit `index` (below unit_count): units run through the arms in file order, in an arm through its axes in file order, the
 * last fastest. Settings that the unit does not read have their defaults. `arm` (NULL allowed) receives the arm's index. */
void grid_unit(const struct grid *grid, size_t index, struct settings *out, size_t *arm);

/* Write "arm 'adam', lr = 0.003, seed = 0": the unit's arm and its value on each axis. */
void grid_describe(const struct grid *grid, size_t index, char out[GRID_TEXT_SIZE]);

/* Write where an entry stands: "path:line: [section] key = value" or "--set key=value". */
void grid_where(const struct grid *grid, const struct grid_entry *entry, char out[GRID_TEXT_SIZE]);

/* Put grid_where before this thread's message and return `status`; nothing where it is STATUS_OK. */
enum status grid_blame(const struct grid *grid, const struct grid_entry *entry, enum status status);

void grid_free(struct grid *grid);

#endif

/* What a store looks like: its axes with their coordinates, its per-unit columns, its attributes. */
#ifndef BNSWEEP_STORE_LAYOUT_H
#define BNSWEEP_STORE_LAYOUT_H

#include "bnsweep/measure/variables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raised when a program that knows only the old format could misread the new one. */
enum { LAYOUT_FORMAT_VERSION = 1 };

/* A unit's state, X(NAME, number, text): the numbers are stored. */
#define UNIT_STATUS_LIST(X) \
    X(PENDING, 0, "pending") \
    X(RUNNING, 1, "running") \
    X(DONE, 2, "done")       \
    X(DIVERGED, 3, "diverged") \
    X(FAILED, 4, "failed")

enum unit_status {
#define X(name, number, text) UNIT_##name = number,
    UNIT_STATUS_LIST(X)
#undef X
        UNIT_STATUS_COUNT
};

enum layout_type { LAYOUT_TEXT, LAYOUT_INTEGER, LAYOUT_REAL };

/* The axes, X(NAME, name in the file, type of its coordinate, units, long_name). */
#define LAYOUT_AXES(X)                                                                            \
    X(UNIT, unit, INTEGER, "1", "row of the unit, in the order in which units were added")        \
    X(CHECK, check, INTEGER, "1", "training steps made before the check")                         \
    X(SAMPLE, sample, INTEGER, "1", "training step of the trace sample")                          \
    X(CHANNEL, channel, INTEGER, "1", "convolution output channel, counted through all layers")   \
    X(LAYER, layer, TEXT, "", "convolution layer")                                                \
    X(REEST, reest, INTEGER, "1", "training batches averaged for the re-estimate")                \
    X(ORDER, order, TEXT, "", "what the channels were ranked by")                                 \
    X(K, k, INTEGER, "1", "channels replaced")                                                    \
    X(EMA, ema, REAL, "1", "decay of the weight average")                                         \
    X(STEP, step, INTEGER, "1", "training step, the first is 1")                                  \
    X(PARAMETER, parameter, INTEGER, "1", "place in the parameter vector, from 0")

enum layout_axis {
#define X(upper, name, type, units, long_name) AXIS_##upper,
    LAYOUT_AXES(X)
#undef X
        AXIS_COUNT
};

enum { LAYOUT_MAX_RANK = 4 };

struct layout_axis_info {
    const char *name;
    enum layout_type type;
    const char *units, *long_name;
};
extern const struct layout_axis_info layout_axes_table[AXIS_COUNT];

/* One value a unit. `units` may be "" or NULL: then the variable has no such attribute. A setting whose name is an axis' or a
 * variable's (norm, order) is stored as NAME_setting: layout_column_name. */
struct layout_column {
    const char *name;
    enum layout_type type;
    const char *units, *long_name;
};

/* The columns that every store has; the settings' columns follow them. Text is "" and reals are NaN until known. */
#define LAYOUT_COLUMNS(X)                                                                                          \
    X(identity, TEXT, "", "hash of the settings that can change a number")                                         \
    X(arm, TEXT, "", "arm of the sweep file")                                                                      \
    X(status, INTEGER, "", "state of the unit")                                                                    \
    X(attempts, INTEGER, "1", "times the unit was started")                                                        \
    X(host, TEXT, "", "host of the last attempt")                                                                  \
    X(rank, INTEGER, "1", "MPI rank of the last attempt, -1 before the first")                                     \
    X(started, REAL, "s", "start of the last attempt, since 1970-01-01T00:00:00Z")                                 \
    X(seconds, REAL, "s", "time spent training and measuring, over all attempts that contributed")                 \
    X(steps_done, INTEGER, "1", "training steps made, 0 before the end")                                           \
    X(reason, TEXT, "", "why the unit failed")                                                                     \
    X(weights_init_hash, TEXT, "", "hash of the weights at step 0")                                                \
    X(weights_hash, TEXT, "", "hash of the weights at the end")                                                    \
    X(statistics_hash, TEXT, "", "hash of the running statistics at the end")

enum layout_column_id {
#define X(name, type, units, long_name) COLUMN_##name,
    LAYOUT_COLUMNS(X)
#undef X
        COLUMN_COUNT
};
extern const struct layout_column layout_columns_table[COLUMN_COUNT];

/* A text on the whole file. `fixed`: a store whose text differs is another sweep and is refused. Otherwise the newest
 * text is kept under the name and the earlier ones under NAME.1, NAME.2, ... */
struct layout_attribute {
    const char *name, *text;
    bool fixed;
};

/* Nothing is owned: all pointers must outlive the layout. An axis of length 0 is left out, with the variables on it. */
struct layout {
    struct variables_extent extent;
    const int64_t *checks, *samples;               /* [extent.checks], [extent.samples] training steps */
    const int64_t *channel_layer, *channel_index;  /* [extent.channels] layer from 1; channel in its layer from 0 */
    const char *const *layers;                     /* [extent.layers] names */
    const int64_t *reests;                         /* [extent.reests] batches */
    const char *const *orders;                     /* [extent.orders] names */
    const int64_t *ks;                             /* [extent.ks] channels */
    const double *emas;                            /* [extent.emas] decays */
    const int64_t *steps, *parameters;             /* [extent.steps] from 1, [extent.parameters] from 0 */
    const struct layout_column *columns;           /* [column_count] one for each setting */
    size_t column_count;
    const struct layout_attribute *attributes;     /* [attribute_count] */
    size_t attribute_count;
};

enum { LAYOUT_NAME_SIZE = 128 };

/* Write the name under which the setting `name` is stored. */
void layout_column_name(const char *name, char out[LAYOUT_NAME_SIZE]);

/* Return the state's name ("done"); "unknown" for another number. */
const char *layout_status_name(int64_t status);

/* Return the length of an axis other than unit, for which it is 0. */
size_t layout_length(const struct variables_extent *extent, enum layout_axis axis);

/* Write a variable's axes, slowest first, the first is unit; return how many. */
int layout_variable_axes(enum variable_id id, enum layout_axis axes[LAYOUT_MAX_RANK]);

/* Return whether the variable has any values with these axes; if not, a store leaves it out. */
bool layout_has_variable(enum variable_id id, const struct variables_extent *extent);

/* Return an axis' coordinate: int64_t, double or const char * elements as its type says.
 * NULL for unit and channel, whose coordinate counts from 0. */
const void *layout_coordinate(const struct layout *layout, enum layout_axis axis);

#endif

/* A store's units in memory: how they stand, and every setting's values, equal ones told by number. */
#ifndef BNSWEEP_CLI_FRAME_H
#define BNSWEEP_CLI_FRAME_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/store/reader.h"
#include "bnsweep/sweep/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One per-unit column. */
struct frame_column {
    char name[LAYOUT_NAME_SIZE]; /* in the file */
    const char *label;           /* as users call it: the setting's key */
    int key;                     /* enum settings_key; -1: not a setting that this program knows */
    enum layout_type type;
    size_t count;                /* distinct values */
    const char **values;         /* [count] in their canonical form, rising; "": the unit does not read it */
    uint32_t *codes;             /* [rows] which value; NULL where there is only one */
};

/* Zero-initialise; free with frame_close. All pointers are owned by the frame. */
struct frame {
    const char *path; /* not owned */
    struct reader *reader;
    size_t rows;
    const struct variables_extent *extent;
    enum unit_status *status; /* [rows] as published */
    struct frame_column arm;
    struct frame_column *settings; /* [setting_count], the settings in the store's order */
    size_t setting_count;
    int64_t *steps;                          /* [extent->checks] of the checks */
    int64_t *channel_layer, *channel_index;  /* [extent->channels] layer from 1; channel in its layer from 0 */
    const char **layers;                     /* [extent->layers] */
    size_t last_first, last_count;           /* the last convolution's channels */
    struct arena arena;
};

/* Open the store at `path` and read all but the measured values. The caller closes it also on failure.
 * Errors as reader_open; STATUS_CORRUPT, STATUS_NOMEM. */
enum status frame_open(const char *path, struct frame *out);

void frame_close(struct frame *frame);

/* Return the number of a row's value, and its text (owned by the frame). */
uint32_t frame_code(const struct frame_column *column, size_t row);
const char *frame_text(const struct frame_column *column, size_t row);

/* Return the column of a setting; NULL where the store has none. */
const struct frame_column *frame_setting(const struct frame *frame, enum settings_key key);

/* Return whether the column is a setting that can change a measured number (a path is none: its file's hash is). */
bool frame_changes_numbers(const struct frame_column *column);

/* Give a row's settings, typed. STATUS_CORRUPT where a value is none. */
enum status frame_settings(const struct frame *frame, size_t row, struct settings *out);

/* Return the most rows whose values of one variable, `largest` of them a row, are to be in memory together; at least 1. */
size_t frame_block(size_t largest);

#endif

#include "bnsweep/store/footprint.h"

#include "schema_internal.h"

#include <math.h>
#include <string.h>

/* Measured with HDF5 1.10: what a file has beside chunks and texts. */
enum {
    DATASET_BYTES = 1400,       /* headers, attributes, and the list of those whose dimension an axis is */
    CHUNK_INDEX_BYTES = 40,     /* a chunk's entry in its B-tree, at the usual filling */
    TREE_BYTES = 2096,          /* a B-tree's first node */
    TEXT_REFERENCE = 16,        /* in the chunk */
    TEXT_HEAD = 16,             /* in the heap, where texts stand in steps of 8 */
    OWN_TEXT = 5 * 32 + 2 * 16  /* identity, hashes, arm, host */
};

static double chunk_bytes(double count, double size)
{
    return count * (size + CHUNK_INDEX_BYTES) + TREE_BYTES * ceil(count / 64);
}

static double variable_bytes(const struct variables_extent *extent, enum variable_id id, uint64_t rows)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    struct h5_shape shape = schema_shape(extent, id, axes);
    double count = ceil((double)rows / (double)shape.chunk[0]), size = (double)schema_element(id) * (double)shape.chunk[0];
    for (int i = 1; i < shape.rank; i++) {
        count *= ceil((double)shape.size[i] / (double)shape.chunk[i]);
        size *= (double)shape.chunk[i];
    }
    return DATASET_BYTES + chunk_bytes(count, size);
}

static double column_bytes(enum layout_type type, uint64_t rows)
{
    double size = type == LAYOUT_TEXT ? TEXT_REFERENCE : sizeof(double);
    return DATASET_BYTES + chunk_bytes(ceil((double)rows / SCHEMA_BLOCK_ROWS), size * SCHEMA_BLOCK_ROWS);
}

static double heap_bytes(size_t length)
{
    return length ? TEXT_HEAD + 8 * ceil((double)length / 8) : 0;
}

/* The settings' columns and their texts. A number that the first unit does not read is taken to be read by none: it is the fill
 * value, and of nothing else no chunk is made. */
static enum status settings_bytes(const struct layout *layout, const struct writer_units *units, uint64_t rows, double *out)
{
    struct writer_text value = {.text = ""};
    *out = 0;
    for (size_t i = 0; i < layout->column_count; i++) {
        enum status status = units->count ? units->describe(units->context, 0, i, &value) : STATUS_OK;
        if (status)
            return status;
        bool unread = layout->columns[i].type == LAYOUT_REAL && strcmp(value.text, "nan") == 0;
        *out += unread ? DATASET_BYTES : column_bytes(layout->columns[i].type, rows);
        *out += layout->columns[i].type == LAYOUT_TEXT ? (double)rows * heap_bytes(strlen(value.text)) : 0;
    }
    return STATUS_OK;
}

static double variables_bytes(const struct variables_extent *extent, bool kept, uint64_t rows)
{
    double bytes = 0;
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (layout_has_variable((enum variable_id)id, extent) && variables_kept(variables_table[id].group) == kept)
            bytes += variable_bytes(extent, (enum variable_id)id, rows);
    return bytes;
}

uint64_t footprint_kept(const struct layout *layout, uint64_t trajectories)
{
    return (uint64_t)variables_bytes(&layout->extent, true, trajectories);
}

enum status footprint_bytes(const struct layout *layout, const struct writer_units *units, uint64_t rows, uint64_t *out)
{
    double settings, bytes = variables_bytes(&layout->extent, false, rows) + (double)rows * (7 * TEXT_HEAD + OWN_TEXT);
    enum status status = settings_bytes(layout, units, rows, &settings);
    for (int i = 0; i < COLUMN_COUNT; i++)
        bytes += column_bytes(layout_columns_table[i].type, rows);
    for (size_t i = 0; i < layout->attribute_count; i++)
        bytes += (double)strlen(layout->attributes[i].text);
    *out = (uint64_t)(bytes + settings);
    return status;
}

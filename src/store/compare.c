#include "compare_internal.h"

#include "bnsweep/base/mem.h"
#include "h5_text_internal.h"

#include <stdio.h>
#include <string.h>

static const char *const ADVICE = "use another store, or the settings it was made with";

static enum status compare_numbers(hid_t dataset, const char *path, const char *name, const int64_t *wanted, size_t count)
{
    int64_t *stored = mem_array(count, sizeof *stored);
    if (!stored)
        return STATUS_NOMEM;
    enum status status = h5_read(dataset, name, H5T_NATIVE_INT64, NULL, stored);
    for (size_t i = 0; !status && i < count; i++)
        if (stored[i] != wanted[i])
            status = status_fail(STATUS_VERSION, "%s has another %s axis than this sweep: number %zu is %lld in the store, %lld in the sweep; %s",
                                 path, name, i, (long long)stored[i], (long long)wanted[i], ADVICE);
    mem_free(stored);
    return status;
}

static enum status compare_reals(hid_t dataset, const char *path, const char *name, const double *wanted, size_t count)
{
    double *stored = mem_array(count, sizeof *stored);
    if (!stored)
        return STATUS_NOMEM;
    enum status status = h5_read(dataset, name, H5T_NATIVE_DOUBLE, NULL, stored);
    for (size_t i = 0; !status && i < count; i++)
        if (stored[i] != wanted[i])
            status = status_fail(STATUS_VERSION, "%s has another %s axis than this sweep: number %zu is %.17g in the store, %.17g in the sweep; %s",
                                 path, name, i, stored[i], wanted[i], ADVICE);
    mem_free(stored);
    return status;
}

static enum status compare_texts(hid_t dataset, const char *path, const char *name, const char *const *wanted, size_t count)
{
    char **stored = mem_array(count, sizeof *stored);
    if (!stored)
        return STATUS_NOMEM;
    enum status status = h5_text_read(dataset, name, 0, count, stored);
    for (size_t i = 0; !status && i < count; i++)
        if (strcmp(stored[i], wanted[i]) != 0)
            status = status_fail(STATUS_VERSION, "%s has another %s axis than this sweep: number %zu is %s in the store, %s in the sweep; %s",
                                 path, name, i, stored[i], wanted[i], ADVICE);
    for (size_t i = 0; i < count; i++)
        mem_free(stored[i]);
    mem_free(stored);
    return status;
}

static enum status compare_dataset(hid_t file, const char *path, const char *name, enum layout_type type, const void *wanted,
                                   size_t count)
{
    hid_t dataset;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    switch (type) {
    case LAYOUT_INTEGER: status = compare_numbers(dataset, path, name, wanted, count); break;
    case LAYOUT_REAL: status = compare_reals(dataset, path, name, wanted, count); break;
    case LAYOUT_TEXT: status = compare_texts(dataset, path, name, wanted, count); break;
    }
    H5Dclose(dataset);
    return status;
}

static enum status compare_axis(hid_t file, const char *path, const struct layout *layout, const struct schema *schema,
                                enum layout_axis axis)
{
    const struct layout_axis_info *info = &layout_axes_table[axis];
    size_t stored = layout_length(&schema->extent, axis), wanted = layout_length(&layout->extent, axis);
    const void *values = layout_coordinate(layout, axis);
    if (stored != wanted)
        return status_fail(STATUS_VERSION, "%s has another %s axis than this sweep: length %zu in the store, %zu in the sweep; %s",
                           path, info->name, stored, wanted, ADVICE);
    if (wanted == 0 || !values)
        return STATUS_OK;
    return compare_dataset(file, path, info->name, info->type, values, wanted);
}

static enum status compare_column(hid_t file, const char *path, const struct layout_column *column)
{
    static const char *const texts[] = {[LAYOUT_TEXT] = "text", [LAYOUT_INTEGER] = "integer", [LAYOUT_REAL] = "real"};
    char name[LAYOUT_NAME_SIZE];
    hid_t dataset;
    layout_column_name(column->name, name);
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return STATUS_OK;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    hid_t type = H5Dget_type(dataset);
    H5T_class_t class = H5Tget_class(type);
    enum layout_type stored = class == H5T_STRING ? LAYOUT_TEXT : class == H5T_INTEGER ? LAYOUT_INTEGER : LAYOUT_REAL;
    H5Tclose(type);
    H5Dclose(dataset);
    if (stored != column->type)
        return status_fail(STATUS_VERSION, "%s: the setting %s is of type %s in the store, %s in this program; use another store",
                           path, name, texts[stored], texts[column->type]);
    return STATUS_OK;
}

/* Move both to the first line in which they differ. */
static void move_to_difference(const char **a, const char **b)
{
    for (;;) {
        size_t x = strcspn(*a, "\n"), y = strcspn(*b, "\n");
        if (x != y || memcmp(*a, *b, x) != 0 || !(*a)[x] || !(*b)[y])
            return;
        *a += x + 1;
        *b += y + 1;
    }
}

static enum status compare_attribute(hid_t file, const char *path, const struct layout_attribute *attribute)
{
    char *stored;
    if (!attribute->fixed)
        return STATUS_OK;
    enum status status = h5_text_get(file, attribute->name, &stored);
    if (!status && strcmp(stored, attribute->text) != 0) {
        const char *theirs = stored, *ours = attribute->text;
        move_to_difference(&theirs, &ours);
        theirs = *theirs ? theirs : "nothing"; /* one has a line more than the other */
        ours = *ours ? ours : "nothing";
        status = status_fail(STATUS_VERSION, "%s was made with another %s: %.*s in the store, %.*s in this sweep; %s", path,
                             attribute->name, (int)strcspn(theirs, "\n"), theirs, (int)strcspn(ours, "\n"), ours, ADVICE);
    }
    mem_free(stored);
    return status;
}

enum status compare_layout(hid_t file, const char *path, const struct layout *layout)
{
    struct schema schema;
    enum status status = schema_read(file, path, &schema);
    for (size_t i = 0; !status && i < layout->attribute_count; i++)
        status = compare_attribute(file, path, &layout->attributes[i]);
    for (int axis = AXIS_CHECK; !status && axis < AXIS_COUNT; axis++)
        status = compare_axis(file, path, layout, &schema, (enum layout_axis)axis);
    if (!status && layout->extent.channels)
        status = compare_dataset(file, path, "channel_layer", LAYOUT_INTEGER, layout->channel_layer, layout->extent.channels);
    if (!status && layout->extent.channels)
        status = compare_dataset(file, path, "channel_index", LAYOUT_INTEGER, layout->channel_index, layout->extent.channels);
    for (size_t i = 0; !status && i < layout->column_count; i++)
        status = compare_column(file, path, &layout->columns[i]);
    return status;
}

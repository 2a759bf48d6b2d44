#include "schema_internal.h"

#include "bnsweep/base/mem.h"
#include "h5_text_internal.h"

#include <hdf5_hl.h>
#include <math.h>
#include <string.h>

/* A chunk is what is read, checked and rewritten together. 32 KiB or one unit, whichever is more: one unit's values are written in
 * one go or check by check, and figures read one variable of all units, for which smaller chunks would cost a look-up
 * each. Not above 512 KiB, so that a unit's chunk stays in the cache while it is filled record by record. */
enum { CHUNK_BYTES = 32 << 10, CHUNK_LIMIT = 512 << 10 };

static const char *const AXIS_LAYER_NAME = "channel_layer", *const AXIS_INDEX_NAME = "channel_index";

static hid_t file_type(enum layout_type type)
{
    switch (type) {
    case LAYOUT_INTEGER: return H5Tcopy(H5T_STD_I64LE);
    case LAYOUT_REAL: return H5Tcopy(H5T_IEEE_F64LE);
    case LAYOUT_TEXT: break;
    }
    return h5_text_type();
}

static enum status describe(hid_t dataset, const char *units, const char *long_name)
{
    enum status status = STATUS_OK;
    if (units && *units)
        status = h5_text_put(dataset, "units", units);
    if (!status && long_name && *long_name)
        status = h5_text_put(dataset, "long_name", long_name);
    return status;
}

static enum status attach(hid_t file, hid_t dataset, const char *name, int position, const char *axis)
{
    hid_t scale;
    enum status status = h5_open_dataset(file, axis, &scale);
    if (status)
        return status;
    if (H5DSattach_scale(dataset, scale, (unsigned)position) < 0)
        status = h5_fail(STATUS_IO, "cannot give the variable %s its dimension %s", name, axis);
    return h5_close_dataset(scale, axis, status);
}

static enum status write_coordinate(hid_t dataset, const char *name, enum layout_type type, size_t count, const void *values)
{
    if (type == LAYOUT_TEXT)
        return h5_text_write(dataset, name, 0, count, values);
    return h5_write(dataset, name, type == LAYOUT_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, NULL, values);
}

static enum status create_axis(hid_t file, const struct layout *layout, enum layout_axis axis)
{
    const struct layout_axis_info *info = &layout_axes_table[axis];
    size_t length = layout_length(&layout->extent, axis);
    struct h5_shape shape = {.rank = 1, .size = {length}};
    if (axis == AXIS_UNIT)
        shape = (struct h5_shape){.rank = 1, .chunk = {SCHEMA_BLOCK_ROWS}, .grows = true};
    else if (length == 0)
        return STATUS_OK;
    hid_t dataset, type = file_type(info->type);
    enum status status = h5_create_dataset(file, info->name, type, &shape, NULL, &dataset);
    H5Tclose(type);
    if (status)
        return status;
    if (H5DSset_scale(dataset, info->name) < 0)
        status = h5_fail(STATUS_IO, "cannot make %s a dimension", info->name);
    if (!status)
        status = describe(dataset, info->units, info->long_name);
    const void *values = layout_coordinate(layout, axis);
    if (!status && values)
        status = write_coordinate(dataset, info->name, info->type, length, values);
    return h5_close_dataset(dataset, info->name, status);
}

/* A further coordinate of the channels. */
static enum status create_channel_numbers(hid_t file, const char *name, const char *long_name, size_t count, const int64_t *values)
{
    hid_t dataset;
    struct h5_shape shape = {.rank = 1, .size = {count}};
    enum status status = h5_create_dataset(file, name, H5T_STD_I64LE, &shape, NULL, &dataset);
    if (status)
        return status;
    status = describe(dataset, "1", long_name);
    if (!status)
        status = attach(file, dataset, name, 0, "channel");
    if (!status)
        status = h5_write(dataset, name, H5T_NATIVE_INT64, NULL, values);
    return h5_close_dataset(dataset, name, status);
}

static enum status create_channels(hid_t file, const struct layout *layout)
{
    size_t count = layout->extent.channels;
    if (count == 0)
        return STATUS_OK;
    int64_t *index = mem_array(count, sizeof *index);
    hid_t dataset;
    if (!index)
        return STATUS_NOMEM;
    for (size_t i = 0; i < count; i++)
        index[i] = (int64_t)i;
    enum status status = h5_open_dataset(file, "channel", &dataset);
    if (!status)
        status = h5_close_dataset(dataset, "channel", h5_write(dataset, "channel", H5T_NATIVE_INT64, NULL, index));
    mem_free(index);
    if (!status)
        status = create_channel_numbers(file, AXIS_LAYER_NAME, "layer of the channel, the first is 1", count, layout->channel_layer);
    if (!status)
        status = create_channel_numbers(file, AXIS_INDEX_NAME, "channel within its layer, from 0", count, layout->channel_index);
    return status;
}

size_t schema_element(enum variable_id id)
{
    return variables_double(variables_table[id].group) ? sizeof(double) : sizeof(float);
}

struct h5_shape schema_shape(const struct variables_extent *extent, enum variable_id id, enum layout_axis axes[LAYOUT_MAX_RANK])
{
    struct h5_shape of = {.rank = layout_variable_axes(id, axes), .grows = true}, *shape = &of;
    uint64_t bytes = schema_element(id);
    for (int i = 1; i < shape->rank; i++) {
        shape->chunk[i] = shape->size[i] = layout_length(extent, axes[i]);
        bytes *= shape->size[i];
    }
    /* Of what one unit keeps for others, the others' rows must take no place. */
    uint64_t rows = variables_kept(variables_table[id].group) ? 1 : CHUNK_BYTES / bytes;
    shape->chunk[0] = rows < 1 ? 1 : rows > SCHEMA_BLOCK_ROWS ? SCHEMA_BLOCK_ROWS : rows;
    for (int i = 1; i < shape->rank && bytes > CHUNK_LIMIT; i++) {
        uint64_t one = bytes / shape->size[i], fit = CHUNK_LIMIT / one;
        shape->chunk[i] = fit < 1 ? 1 : fit;
        bytes = one * shape->chunk[i];
    }
    return of;
}

static enum status finish_variable(hid_t file, hid_t dataset, enum variable_id id, const enum layout_axis *axes, int rank)
{
    const struct variable *variable = &variables_table[id];
    const double missing = NAN;
    const float missing_float = NAN;
    enum status status = variables_double(variable->group) ? h5_put(dataset, "_FillValue", H5T_NATIVE_DOUBLE, &missing, 1)
                                                           : h5_put(dataset, "_FillValue", H5T_NATIVE_FLOAT, &missing_float, 1);
    if (!status)
        status = describe(dataset, variable->units, variable->long_name);
    for (int i = 0; !status && i < rank; i++) {
        status = attach(file, dataset, variable->name, i, layout_axes_table[axes[i]].name);
        if (!status && axes[i] == AXIS_CHANNEL)
            status = h5_text_put(dataset, "coordinates", "channel_layer channel_index");
    }
    return status;
}

static enum status create_variable(hid_t file, const struct variables_extent *extent, enum variable_id id)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    const double missing = NAN;
    hid_t dataset;
    if (!layout_has_variable(id, extent))
        return STATUS_OK;
    struct h5_shape shape = schema_shape(extent, id, axes);
    hid_t type = variables_double(variables_table[id].group) ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    enum status status = h5_create_dataset(file, variables_table[id].name, type, &shape, &missing, &dataset);
    if (status)
        return status;
    return h5_close_dataset(dataset, variables_table[id].name, finish_variable(file, dataset, id, axes, shape.rank));
}

static enum status finish_column(hid_t file, hid_t dataset, const char *name, const struct layout_column *column)
{
    static const int8_t states[] = {
#define X(upper, number, text) number,
        UNIT_STATUS_LIST(X)
#undef X
    };
#define X(upper, number, text) text " "
    static const char meanings[] = UNIT_STATUS_LIST(X);
#undef X
    const double missing = NAN;
    enum status status = attach(file, dataset, name, 0, "unit");
    if (!status && column->type == LAYOUT_REAL)
        status = h5_put(dataset, "_FillValue", H5T_NATIVE_DOUBLE, &missing, 1);
    if (!status)
        status = describe(dataset, column->units, column->long_name);
    if (status || column != &layout_columns_table[COLUMN_status])
        return status;
    char words[sizeof meanings];
    memcpy(words, meanings, sizeof words);
    words[sizeof words - 2] = '\0'; /* the last blank */
    status = h5_text_put(dataset, "flag_meanings", words);
    return status ? status : h5_put(dataset, "flag_values", H5T_NATIVE_INT8, states, UNIT_STATUS_COUNT);
}

/* `column` of the store's own is called by its name, a setting by its stored name. */
static enum status create_column(hid_t file, const struct layout_column *column, const char *name, uint64_t rows)
{
    const double missing = NAN;
    struct h5_shape shape = {.rank = 1, .size = {rows}, .chunk = {SCHEMA_BLOCK_ROWS}, .grows = true};
    hid_t dataset, type = column == &layout_columns_table[COLUMN_status] ? H5Tcopy(H5T_STD_I8LE) : file_type(column->type);
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) {
        H5Tclose(type);
        return status_fail(STATUS_INPUT, "the store has two variables called %s", name);
    }
    enum status status = h5_create_dataset(file, name, type, &shape, column->type == LAYOUT_REAL ? &missing : NULL, &dataset);
    H5Tclose(type);
    if (status)
        return status;
    return h5_close_dataset(dataset, name, finish_column(file, dataset, name, column));
}

enum status schema_add_column(hid_t file, const struct layout_column *column, uint64_t rows)
{
    char name[LAYOUT_NAME_SIZE];
    layout_column_name(column->name, name);
    return create_column(file, column, name, rows);
}

static enum status put_header(hid_t file, const struct layout *layout, struct hash store)
{
    char hex[HASH_HEX_SIZE];
    const int32_t version = LAYOUT_FORMAT_VERSION;
    hash_hex(store, hex);
    enum status status = h5_text_put(file, "title", "bnsweep store");
    if (!status)
        status = h5_put(file, "format_version", H5T_NATIVE_INT32, &version, 1);
    if (!status)
        status = h5_text_put(file, "store_id", hex);
    if (!status)
        status = schema_set_applied(file, 0);
    for (size_t i = 0; !status && i < layout->attribute_count; i++)
        status = h5_text_put(file, layout->attributes[i].name, layout->attributes[i].text);
    return status;
}

enum status schema_create(hid_t file, const struct layout *layout, struct hash store)
{
    enum status status = put_header(file, layout, store);
    for (int axis = 0; !status && axis < AXIS_COUNT; axis++)
        status = create_axis(file, layout, (enum layout_axis)axis);
    if (!status)
        status = create_channels(file, layout);
    for (int i = 0; !status && i < COLUMN_COUNT; i++)
        status = create_column(file, &layout_columns_table[i], layout_columns_table[i].name, 0);
    for (size_t i = 0; !status && i < layout->column_count; i++)
        status = schema_add_column(file, &layout->columns[i], 0);
    for (int id = 0; !status && id < VARIABLE_COUNT; id++)
        status = create_variable(file, &layout->extent, (enum variable_id)id);
    return status;
}

enum status schema_set_applied(hid_t file, uint64_t applied)
{
    return h5_put(file, "journal_sequence", H5T_NATIVE_UINT64, &applied, 1);
}

static enum status read_length(hid_t file, enum layout_axis axis, uint64_t *length)
{
    const char *name = layout_axes_table[axis].name;
    hsize_t size[LAYOUT_MAX_RANK] = {0};
    hid_t dataset;
    *length = 0;
    if (axis != AXIS_UNIT && H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return STATUS_OK;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    if (h5_sizes(dataset, size) != 1)
        status = status_fail(STATUS_CORRUPT, "the axis %s has not one dimension", name);
    *length = size[0];
    H5Dclose(dataset);
    return status;
}

static enum status read_lengths(hid_t file, struct schema *out)
{
    uint64_t length[AXIS_COUNT];
    enum status status = STATUS_OK;
    for (int axis = 0; !status && axis < AXIS_COUNT; axis++)
        status = read_length(file, (enum layout_axis)axis, &length[axis]);
    if (status)
        return status;
    out->rows = length[AXIS_UNIT];
    out->extent = (struct variables_extent){.checks = length[AXIS_CHECK], .samples = length[AXIS_SAMPLE],
        .channels = length[AXIS_CHANNEL], .layers = length[AXIS_LAYER], .reests = length[AXIS_REEST],
        .orders = length[AXIS_ORDER], .ks = length[AXIS_K], .emas = length[AXIS_EMA], .steps = length[AXIS_STEP],
        .parameters = length[AXIS_PARAMETER]};
    return STATUS_OK;
}

enum status schema_read(hid_t file, const char *path, struct schema *out)
{
    int64_t version, applied;
    char *id = NULL;
    if (!h5_has(file, "format_version") || !h5_has(file, "store_id") || !h5_has(file, "journal_sequence"))
        return status_fail(STATUS_INPUT, "%s is an HDF5 file, but no store of this program", path);
    enum status status = h5_get(file, "format_version", &version);
    if (!status && version != LAYOUT_FORMAT_VERSION)
        return status_fail(STATUS_VERSION, "%s has format version %lld, this program knows version %d", path,
                           (long long)version, LAYOUT_FORMAT_VERSION);
    if (!status)
        status = h5_text_get(file, "store_id", &id);
    if (!status && !hash_from_hex(id, &out->store))
        status = status_fail(STATUS_CORRUPT, "the store's identity is \"%s\"", id);
    mem_free(id);
    if (!status)
        status = h5_get(file, "journal_sequence", &applied);
    out->applied = status ? 0 : (uint64_t)applied;
    if (!status)
        status = read_lengths(file, out);
    return status_context(status, "%s", path);
}

static enum status grow_dataset(hid_t file, const char *name, uint64_t rows)
{
    hsize_t size[LAYOUT_MAX_RANK];
    hid_t dataset;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    int rank = h5_sizes(dataset, size);
    size[0] = rows;
    if (rank < 1 || H5Dset_extent(dataset, size) < 0)
        status = h5_fail(STATUS_IO, "cannot add rows to the variable %s", name);
    return h5_close_dataset(dataset, name, status);
}

/* Whether the variable's first axis is the unlimited one, unit. */
static bool has_units(hid_t file, const char *name)
{
    hsize_t size[LAYOUT_MAX_RANK], limit[LAYOUT_MAX_RANK] = {0};
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = dataset < 0 ? -1 : H5Dget_space(dataset);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (rank >= 1 && rank <= LAYOUT_MAX_RANK)
        H5Sget_simple_extent_dims(space, size, limit);
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return limit[0] == H5S_UNLIMITED;
}

struct growth {
    uint64_t rows;
    enum status status;
};

static herr_t grow_link(hid_t file, const char *name, void *context)
{
    struct growth *growth = context;
    if (has_units(file, name))
        growth->status = grow_dataset(file, name, growth->rows);
    return growth->status ? -1 : 0;
}

enum status schema_grow(hid_t file, uint64_t old_rows, uint64_t rows)
{
    struct growth growth = {.rows = rows};
    if (rows == old_rows)
        return STATUS_OK;
    if (h5_each_variable(file, H5_INDEX_NAME, grow_link, &growth) < 0)
        return growth.status ? growth.status : h5_fail(STATUS_IO, "cannot list the store's variables");
    int64_t *numbers = mem_array(rows - old_rows, sizeof *numbers);
    hid_t dataset;
    if (!numbers)
        return STATUS_NOMEM;
    for (uint64_t i = 0; i < rows - old_rows; i++)
        numbers[i] = (int64_t)(old_rows + i);
    enum status status = h5_open_dataset(file, "unit", &dataset);
    if (!status) {
        struct h5_slab slab = {.rank = 1, .start = {old_rows}, .count = {rows - old_rows}};
        status = h5_close_dataset(dataset, "unit", h5_write(dataset, "unit", H5T_NATIVE_INT64, &slab, numbers));
    }
    mem_free(numbers);
    return status;
}

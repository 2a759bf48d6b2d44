#include "bnsweep/store/reader.h"

#include "bnsweep/base/mem.h"
#include "h5_text_internal.h"
#include "paths_internal.h"
#include "reader_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_TRIES = 3 };

static enum status add_column(struct reader *reader, const char *name, H5T_class_t class)
{
    if (reader->column_count == reader->column_capacity) {
        size_t capacity = reader->column_capacity ? 2 * reader->column_capacity : 64;
        struct reader_column *columns = mem_grow(reader->columns, reader->column_capacity, capacity, sizeof *columns);
        if (!columns)
            return STATUS_NOMEM;
        reader->columns = columns;
        reader->column_capacity = capacity;
    }
    struct reader_column *column = &reader->columns[reader->column_count++];
    snprintf(column->name, sizeof column->name, "%s", name);
    column->type = class == H5T_STRING ? LAYOUT_TEXT : class == H5T_INTEGER ? LAYOUT_INTEGER : LAYOUT_REAL;
    column->setting = true;
    for (int own = 0; own < COLUMN_COUNT; own++)
        if (strcmp(layout_columns_table[own].name, name) == 0)
            column->setting = false;
    return STATUS_OK;
}

struct listing {
    struct reader *reader;
    enum status status;
};

static herr_t list_variable(hid_t file, const char *name, void *context)
{
    struct listing *listing = context;
    hsize_t limit = 0, size;
    hid_t dataset = strcmp(name, "unit") == 0 ? -1 : H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0)
        return 0;
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    if (H5Sget_simple_extent_ndims(space) == 1)
        H5Sget_simple_extent_dims(space, &size, &limit);
    if (limit == H5S_UNLIMITED)
        listing->status = add_column(listing->reader, name, H5Tget_class(type));
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
    return listing->status ? -1 : 0;
}

static enum status list_columns(struct reader *reader)
{
    struct listing listing = {.reader = reader};
    if (h5_each_variable(reader->file, H5_INDEX_CRT_ORDER, list_variable, &listing) < 0)
        return listing.status ? listing.status : h5_fail(STATUS_CORRUPT, "%s: cannot list the variables", reader->path);
    return STATUS_OK;
}

/* The journal first: whatever it no longer holds when it is opened, the store that is opened later has. */
static enum status open_once(struct reader *reader, bool published)
{
    char path[PATH_MAX];
    struct journal_reader *journal = NULL;
    enum status status = paths_beside(reader->path, ".journal", path);
    enum status health = status || published ? status : journal_reader_open(path, &journal);
    char message[sizeof reader->journal.message] = "";
    if (health)
        snprintf(message, sizeof message, "%s", status_message());
    if (!status)
        status = h5_open(reader->path, false, &reader->file);
    if (!status)
        status = schema_read(reader->file, reader->path, &reader->schema);
    if (!status)
        status = overlay_read(journal, &reader->schema, &reader->overlay, &reader->journal);
    if (!status && health) {
        reader->journal.exists = true;
        reader->journal.health = health;
        memcpy(reader->journal.message, message, sizeof message);
    }
    journal_reader_close(journal);
    return status ? status : list_columns(reader);
}

static void drop(struct reader *reader)
{
    overlay_free(&reader->overlay);
    mem_free(reader->columns);
    reader->columns = NULL;
    reader->column_count = reader->column_capacity = 0;
    if (reader->file >= 0)
        H5Fclose(reader->file);
    reader->file = -1;
}

static enum status open_reader(const char *path, bool published, struct reader **out)
{
    *out = NULL;
    struct reader *reader = mem_array(1, sizeof *reader);
    if (!reader)
        return STATUS_NOMEM;
    reader->file = -1;
    enum status status = paths_resolve(path, reader->path);
    /* On a network file system a reader may meet the old store and the new journal for a moment. */
    for (int try = 0; !status && try < OPEN_TRIES; try++) {
        status = open_once(reader, published);
        if (!status) {
            *out = reader;
            return STATUS_OK;
        }
        drop(reader);
        if (status == STATUS_CORRUPT && try + 1 < OPEN_TRIES)
            status = STATUS_OK;
    }
    mem_free(reader);
    return status;
}

enum status reader_open(const char *path, struct reader **out)
{
    return open_reader(path, false, out);
}

enum status reader_open_published(const char *path, struct reader **out)
{
    return open_reader(path, true, out);
}

void reader_close(struct reader *reader)
{
    if (!reader)
        return;
    drop(reader);
    mem_free(reader);
}

uint64_t reader_rows(const struct reader *reader)
{
    return reader->schema.rows;
}

const struct variables_extent *reader_extent(const struct reader *reader)
{
    return &reader->schema.extent;
}

const struct reader_journal *reader_journal(const struct reader *reader)
{
    return &reader->journal;
}

enum status reader_attribute(const struct reader *reader, const char *name, char **out)
{
    return status_context(h5_text_get(reader->file, name, out), "%s", reader->path);
}

/* Read all of a one-dimensional variable that is a coordinate. */
static enum status read_axis(const struct reader *reader, const char *name, hid_t type, void *out)
{
    hid_t dataset;
    enum status status = h5_open_dataset(reader->file, name, &dataset);
    if (!status) {
        status = h5_read(dataset, name, type, NULL, out);
        H5Dclose(dataset);
    }
    return status_context(status, "%s", reader->path);
}

enum status reader_axis_integers(const struct reader *reader, const char *name, int64_t *out)
{
    return read_axis(reader, name, H5T_NATIVE_INT64, out);
}

enum status reader_axis_reals(const struct reader *reader, const char *name, double *out)
{
    return read_axis(reader, name, H5T_NATIVE_DOUBLE, out);
}

enum status reader_axis_texts(const struct reader *reader, const char *name, char **out)
{
    hid_t dataset;
    hsize_t size[LAYOUT_MAX_RANK];
    enum status status = h5_open_dataset(reader->file, name, &dataset);
    if (!status) {
        status = h5_sizes(dataset, size) == 1 ? h5_text_read(dataset, name, 0, size[0], out)
                                              : status_fail(STATUS_CORRUPT, "the axis %s has not one dimension", name);
        H5Dclose(dataset);
    }
    return status_context(status, "%s", reader->path);
}

size_t reader_column_count(const struct reader *reader)
{
    return reader->column_count;
}

const struct reader_column *reader_column(const struct reader *reader, size_t index)
{
    return &reader->columns[index];
}

/* Find a column and check the rows. */
static enum status find_column(const struct reader *reader, const char *name, uint64_t first, size_t count,
                               const struct reader_column **out)
{
    if (first > reader->schema.rows || count > reader->schema.rows - first)
        return status_fail(STATUS_INPUT, "%s has %llu rows; %zu from %llu on were asked for", reader->path,
                           (unsigned long long)reader->schema.rows, count, (unsigned long long)first);
    for (size_t i = 0; i < reader->column_count; i++) {
        *out = &reader->columns[i];
        if (strcmp((*out)->name, name) == 0)
            return STATUS_OK;
    }
    return status_fail(STATUS_INPUT, "%s has no column %s", reader->path, name);
}

static enum status read_numbers(const struct reader *reader, const char *name, bool reals, uint64_t first, size_t count, void *out)
{
    const struct reader_column *column = NULL;
    hid_t dataset;
    enum status status = find_column(reader, name, first, count, &column);
    if (status)
        return status;
    if (column->type == LAYOUT_TEXT || (column->type == LAYOUT_REAL && !reals))
        return status_fail(STATUS_INPUT, "%s: the column %s is no %s", reader->path, name, reals ? "number" : "integer");
    status = h5_open_dataset(reader->file, name, &dataset);
    if (!status && count) {
        struct h5_slab slab = {.rank = 1, .start = {first}, .count = {count}};
        status = h5_read(dataset, name, reals ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, &slab, out);
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    return status_context(status, "%s", reader->path);
}

enum status reader_integers(const struct reader *reader, const char *column, uint64_t first, size_t count, int64_t *out)
{
    return read_numbers(reader, column, false, first, count, out);
}

enum status reader_reals(const struct reader *reader, const char *column, uint64_t first, size_t count, double *out)
{
    return read_numbers(reader, column, true, first, count, out);
}

/* The fewest digits that read back the same. */
static char *real_text(double real)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, real);
        if (isnan(real) || strtod(text, NULL) == real)
            break;
    }
    return mem_text(isnan(real) ? "nan" : text);
}

static enum status number_texts(const struct reader *reader, const struct reader_column *column, uint64_t first, size_t count,
                                char **out)
{
    union number {
        int64_t integer;
        double real;
    } *numbers = mem_array(count, sizeof *numbers);
    char text[32];
    if (!numbers)
        return STATUS_NOMEM;
    bool reals = column->type == LAYOUT_REAL;
    enum status status = read_numbers(reader, column->name, reals, first, count, numbers);
    for (size_t i = 0; !status && i < count; i++) {
        snprintf(text, sizeof text, "%lld", (long long)numbers[i].integer);
        out[i] = reals ? real_text(numbers[i].real) : mem_text(text);
        status = out[i] ? STATUS_OK : STATUS_NOMEM;
    }
    mem_free(numbers);
    return status;
}

enum status reader_texts(const struct reader *reader, const char *name, uint64_t first, size_t count, char **out)
{
    const struct reader_column *column = NULL;
    hid_t dataset;
    for (size_t i = 0; i < count; i++)
        out[i] = NULL;
    enum status status = find_column(reader, name, first, count, &column);
    if (!status && column->type == LAYOUT_TEXT) {
        status = h5_open_dataset(reader->file, name, &dataset);
        if (!status)
            status = h5_text_read(dataset, name, first, count, out);
        if (dataset >= 0)
            H5Dclose(dataset);
    } else if (!status) {
        status = number_texts(reader, column, first, count, out);
    }
    for (size_t i = 0; status && i < count; i++) {
        mem_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* Describe all values of rows [first, first + count). */
static enum status find_values(const struct reader *reader, enum variable_id id, uint64_t first, size_t count, struct h5_slab *out)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    if (!layout_has_variable(id, &reader->schema.extent))
        return status_fail(STATUS_INPUT, "%s has no variable %s", reader->path, variables_table[id].name);
    if (first > reader->schema.rows || count > reader->schema.rows - first)
        return status_fail(STATUS_INPUT, "%s has %llu rows; %zu from %llu on were asked for", reader->path,
                           (unsigned long long)reader->schema.rows, count, (unsigned long long)first);
    *out = (struct h5_slab){.rank = layout_variable_axes(id, axes), .start = {first}, .count = {count}};
    for (int i = 1; i < out->rank; i++)
        out->count[i] = layout_length(&reader->schema.extent, axes[i]);
    return STATUS_OK;
}

static enum status read_slab(const struct reader *reader, enum variable_id id, hid_t type, const struct h5_slab *slab, void *out)
{
    hid_t dataset;
    enum status status = h5_open_dataset(reader->file, variables_table[id].name, &dataset);
    if (!status && slab->count[0])
        status = h5_read(dataset, variables_table[id].name, type, slab, out);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status_context(status, "%s", reader->path);
}

enum status reader_values(const struct reader *reader, enum variable_id id, uint64_t first, size_t count, float *out)
{
    struct h5_slab slab;
    enum status status = find_values(reader, id, first, count, &slab);
    return status ? status : read_slab(reader, id, H5T_NATIVE_FLOAT, &slab, out);
}

enum status reader_positions(const struct reader *reader, enum variable_id id, uint64_t row, uint64_t first, size_t count, void *out)
{
    struct h5_slab slab;
    enum variable_group group = variables_table[id].group;
    size_t positions = variables_record_count(group, &reader->schema.extent);
    enum status status = find_values(reader, id, row, 1, &slab);
    if (!status && (first > positions || count > positions - first))
        status = status_fail(STATUS_INPUT, "%s: %s has %zu positions; %zu from %llu on were asked for", reader->path,
                             variables_table[id].name, positions, count, (unsigned long long)first);
    if (status || !count)
        return status;
    if (group != GROUP_UNIT) {
        slab.start[1] = first;
        slab.count[1] = count;
    }
    return read_slab(reader, id, variables_double(group) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, &slab, out);
}

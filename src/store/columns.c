#include "columns_internal.h"

#include "bnsweep/base/mem.h"
#include "h5_text_internal.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARSED_SIZE = 48, HEAP_BYTES = 16 << 10, CHUNK_BYTES = 16 * SCHEMA_BLOCK_ROWS };

/* Memory of a block's texts, which live and die together. */
struct heap {
    struct heap *next;
    size_t used, size;
    char bytes[];
};

struct column {
    char name[LAYOUT_NAME_SIZE];
    enum layout_type type;
    hid_t dataset;
    bool loaded, changed;
    bool *changed_row;  /* [SCHEMA_BLOCK_ROWS] texts only: a text written again would leave its old copy in the file */
    struct heap *heap;  /* of the texts, owned */
    char parsed[PARSED_SIZE]; /* the last text that was read as a number, and the number: most rows repeat it */
    double parsed_real;
    int64_t parsed_integer;
    union {
        char **texts;      /* [SCHEMA_BLOCK_ROWS] in the heap; NULL is "" */
        int64_t *integers; /* [SCHEMA_BLOCK_ROWS] */
        double *reals;     /* [SCHEMA_BLOCK_ROWS] */
        void *any;
    };
};

struct columns {
    uint64_t rows, added; /* of the file; from this one on nothing is stored */
    uint64_t first;       /* of the block */
    size_t count, capacity;
    struct column *items; /* owned */
};

struct listing {
    struct columns *columns;
    enum status status;
};

static size_t block_rows(const struct columns *columns)
{
    uint64_t left = columns->rows - columns->first;
    return left < SCHEMA_BLOCK_ROWS ? (size_t)left : SCHEMA_BLOCK_ROWS;
}

static enum status add(struct columns *columns, const char *name, enum layout_type type, hid_t dataset)
{
    if (columns->count == columns->capacity) {
        size_t capacity = columns->capacity ? 2 * columns->capacity : 64;
        struct column *items = mem_grow(columns->items, columns->capacity, capacity, sizeof *items);
        if (!items)
            return STATUS_NOMEM;
        columns->items = items;
        columns->capacity = capacity;
    }
    struct column *column = &columns->items[columns->count];
    snprintf(column->name, sizeof column->name, "%s", name);
    column->type = type;
    column->any = mem_array(SCHEMA_BLOCK_ROWS, type == LAYOUT_TEXT ? sizeof(char *) : sizeof(double));
    column->changed_row = mem_array(SCHEMA_BLOCK_ROWS, sizeof *column->changed_row);
    if (!column->any || !column->changed_row) {
        mem_free(column->any);
        mem_free(column->changed_row);
        return STATUS_NOMEM;
    }
    column->dataset = dataset;
    columns->count++;
    return STATUS_OK;
}

/* Columns are the variables with the one axis unit, but for unit itself. */
static herr_t list_column(hid_t file, const char *name, void *context)
{
    struct listing *listing = context;
    hsize_t limit = 0, size;
    hid_t dataset;
    if (strcmp(name, "unit") == 0 || h5_open_in_order(file, name, CHUNK_BYTES, &dataset))
        return 0;
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    if (H5Sget_simple_extent_ndims(space) == 1)
        H5Sget_simple_extent_dims(space, &size, &limit);
    H5T_class_t class = H5Tget_class(type);
    H5Sclose(space);
    H5Tclose(type);
    bool is_column = limit == H5S_UNLIMITED;
    if (is_column)
        listing->status = add(listing->columns, name, class == H5T_STRING ? LAYOUT_TEXT : class == H5T_INTEGER ? LAYOUT_INTEGER : LAYOUT_REAL, dataset);
    if (!is_column || listing->status)
        H5Dclose(dataset);
    return listing->status ? -1 : 0;
}

/* A store made by this program has its own columns first, in the table's order. */
static enum status check_own(const struct columns *columns)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (i >= columns->count || strcmp(columns->items[i].name, layout_columns_table[i].name) != 0 ||
            columns->items[i].type != layout_columns_table[i].type)
            return status_fail(STATUS_CORRUPT, "the store has no proper column %s", layout_columns_table[i].name);
    return STATUS_OK;
}

enum status columns_open(hid_t file, uint64_t rows, uint64_t added, struct columns **out)
{
    struct columns *columns = mem_array(1, sizeof *columns);
    *out = columns;
    if (!columns)
        return STATUS_NOMEM;
    columns->rows = rows;
    columns->added = added;
    struct listing listing = {.columns = columns};
    enum status status = STATUS_OK;
    if (h5_each_variable(file, H5_INDEX_CRT_ORDER, list_column, &listing) < 0)
        status = listing.status ? listing.status : h5_fail(STATUS_CORRUPT, "cannot list the store's variables");
    if (!status)
        status = check_own(columns);
    if (status) {
        columns_close(columns, status);
        *out = NULL;
    }
    return status;
}

int columns_find(const struct columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->items[i].name, name) == 0)
            return (int)i;
    return -1;
}

static void unload(struct column *column)
{
    if (!column->loaded)
        return;
    while (column->heap) {
        struct heap *next = column->heap->next;
        mem_free(column->heap);
        column->heap = next;
    }
    if (column->type == LAYOUT_TEXT)
        memset(column->texts, 0, SCHEMA_BLOCK_ROWS * sizeof *column->texts);
    memset(column->changed_row, 0, SCHEMA_BLOCK_ROWS * sizeof *column->changed_row);
    column->loaded = column->changed = false;
}

static char *keep_text(struct column *column, const char *text)
{
    size_t size = strlen(text) + 1;
    if (!column->heap || size > column->heap->size - column->heap->used) {
        size_t room = size > HEAP_BYTES ? size : HEAP_BYTES;
        struct heap *heap = mem_array(sizeof *heap + room, 1);
        if (!heap)
            return NULL;
        *heap = (struct heap){.next = column->heap, .size = room};
        column->heap = heap;
    }
    char *kept = column->heap->bytes + column->heap->used;
    column->heap->used += size;
    return memcpy(kept, text, size);
}

static hid_t memory_type(const struct column *column)
{
    return column->type == LAYOUT_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
}

static enum status load_texts(const struct columns *columns, struct column *column, size_t count)
{
    char *texts[SCHEMA_BLOCK_ROWS];
    enum status status = h5_text_read(column->dataset, column->name, columns->first, count, texts);
    for (size_t i = 0; i < count; i++) {
        if (!status && !(column->texts[i] = keep_text(column, texts[i])))
            status = STATUS_NOMEM;
        mem_free(texts[i]);
    }
    return status;
}

/* What a block of added rows holds. */
static void load_nothing(struct column *column)
{
    for (size_t i = 0; i < SCHEMA_BLOCK_ROWS; i++)
        switch (column->type) {
        case LAYOUT_TEXT: column->texts[i] = NULL; break;
        case LAYOUT_INTEGER: column->integers[i] = 0; break;
        case LAYOUT_REAL: column->reals[i] = NAN; break;
        }
}

static enum status load(const struct columns *columns, struct column *column)
{
    if (column->loaded)
        return STATUS_OK;
    size_t count = block_rows(columns);
    struct h5_slab slab = {.rank = 1, .start = {columns->first}, .count = {count}};
    enum status status = STATUS_OK;
    column->loaded = true; /* from now on there is something to unload */
    if (columns->first >= columns->added)
        load_nothing(column);
    else if (column->type == LAYOUT_TEXT)
        status = load_texts(columns, column, count);
    else
        status = h5_read(column->dataset, column->name, memory_type(column), &slab, column->any);
    if (status)
        unload(column);
    return status;
}

static enum status store_texts(const struct columns *columns, const struct column *column)
{
    size_t count = block_rows(columns), end;
    for (size_t row = 0; row < count; row = end + 1) {
        for (end = row; end < count && column->changed_row[end];)
            end++;
        if (end == row)
            continue;
        /* A cast only to say that the writer changes none of the strings. */
        enum status status = h5_text_write(column->dataset, column->name, columns->first + row, end - row,
                                           (const char *const *)(column->texts + row));
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status columns_flush(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        struct column *column = &columns->items[i];
        struct h5_slab slab = {.rank = 1, .start = {columns->first}, .count = {block_rows(columns)}};
        enum status status = STATUS_OK;
        if (column->changed)
            status = column->type == LAYOUT_TEXT
                         ? store_texts(columns, column)
                         : h5_write(column->dataset, column->name, memory_type(column), &slab, column->any);
        if (status)
            return status;
        unload(column);
    }
    return STATUS_OK;
}

/* Have the column's block of `row` loaded; return its item, or NULL with `*status`. */
static struct column *reach(struct columns *columns, uint64_t row, int index, enum status *status)
{
    if (row >= columns->rows || index < 0 || (size_t)index >= columns->count) {
        *status = status_fail(STATUS_CORRUPT, "column %d of row %llu, but the store has %zu columns and %llu rows", index,
                              (unsigned long long)row, columns->count, (unsigned long long)columns->rows);
        return NULL;
    }
    uint64_t first = row - row % SCHEMA_BLOCK_ROWS;
    *status = STATUS_OK;
    if (first != columns->first)
        *status = columns_flush(columns);
    columns->first = *status ? columns->first : first;
    if (!*status)
        *status = load(columns, &columns->items[index]);
    return *status ? NULL : &columns->items[index];
}

static enum status fail_type(const struct column *column)
{
    return status_fail(STATUS_INTERNAL, "the column %s is of another type than its value", column->name);
}

enum status columns_set_text(struct columns *columns, uint64_t row, int column_index, const char *text)
{
    enum status status;
    struct column *column = reach(columns, row, column_index, &status);
    if (!column)
        return status;
    if (column->type != LAYOUT_TEXT)
        return fail_type(column);
    size_t at = row - columns->first;
    char **place = &column->texts[at], *before = at ? column->texts[at - 1] : NULL;
    if (*text && *place && strcmp(*place, text) == 0) /* "" may be one that was never written, which some readers see as NIL */
        return STATUS_OK;
    bool repeats = before && strcmp(before, text) == 0;
    *place = repeats ? before : keep_text(column, text);
    column->changed = column->changed_row[at] = true;
    return *place ? STATUS_OK : STATUS_NOMEM;
}

/* A number that is there already, as the fill value is in added rows, is no change: a chunk of nothing else is never made. */
static void put_integer(struct column *column, size_t at, int64_t value)
{
    column->changed = column->changed || column->integers[at] != value;
    column->integers[at] = value;
}

static void put_real(struct column *column, size_t at, double value)
{
    column->changed = column->changed || memcmp(&column->reals[at], &value, sizeof value) != 0;
    column->reals[at] = value;
}

enum status columns_set_integer(struct columns *columns, uint64_t row, int column_index, int64_t value)
{
    enum status status;
    struct column *column = reach(columns, row, column_index, &status);
    if (!column)
        return status;
    if (column->type != LAYOUT_INTEGER)
        return fail_type(column);
    put_integer(column, row - columns->first, value);
    return STATUS_OK;
}

enum status columns_set_real(struct columns *columns, uint64_t row, int column_index, double value)
{
    enum status status;
    struct column *column = reach(columns, row, column_index, &status);
    if (!column)
        return status;
    if (column->type != LAYOUT_REAL)
        return fail_type(column);
    put_real(column, row - columns->first, value);
    return STATUS_OK;
}

/* Read the text as a number of the column's type into parsed_real or parsed_integer. */
static bool parse_number(struct column *column, const char *text)
{
    char *end = NULL;
    size_t length = strlen(text);
    if (*text && strcmp(column->parsed, text) == 0)
        return true;
    errno = 0;
    if (column->type == LAYOUT_REAL)
        column->parsed_real = strtod(text, &end); /* out of range gives the nearest there is, which is right */
    else
        column->parsed_integer = strtoll(text, &end, 10);
    bool good = end != text && !*end && (column->type == LAYOUT_REAL || !errno);
    column->parsed[0] = '\0';
    if (good && length < PARSED_SIZE)
        memcpy(column->parsed, text, length + 1);
    return good;
}

enum status columns_parse(struct columns *columns, uint64_t row, int index, const char *text)
{
    struct column *column = &columns->items[index];
    if (column->type == LAYOUT_TEXT)
        return columns_set_text(columns, row, index, text);
    if (!parse_number(column, text))
        return status_fail(STATUS_INPUT, "%s = %.100s is no number", column->name, text);
    return column->type == LAYOUT_REAL ? columns_set_real(columns, row, index, column->parsed_real)
                                       : columns_set_integer(columns, row, index, column->parsed_integer);
}

enum status columns_repeat(struct columns *columns, uint64_t row, int index, const char *text)
{
    enum status status;
    struct column *column = reach(columns, row, index, &status);
    size_t at = row - columns->first;
    if (!column || at == 0)
        return column ? columns_parse(columns, row, index, text) : status;
    switch (column->type) {
    case LAYOUT_TEXT:
        column->texts[at] = column->texts[at - 1];
        column->changed = column->changed_row[at] = true;
        break;
    case LAYOUT_INTEGER: put_integer(column, at, column->integers[at - 1]); break;
    case LAYOUT_REAL: put_real(column, at, column->reals[at - 1]); break;
    }
    return STATUS_OK;
}

enum status columns_close(struct columns *columns, enum status status)
{
    if (!columns)
        return status;
    for (size_t i = 0; i < columns->count; i++) {
        struct column *column = &columns->items[i];
        unload(column);
        status = h5_close_dataset(column->dataset, column->name, status);
        mem_free(column->any);
        mem_free(column->changed_row);
    }
    mem_free(columns->items);
    mem_free(columns);
    return status;
}

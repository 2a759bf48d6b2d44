#include "admission_internal.h"

#include "bnsweep/base/mem.h"
#include "columns_internal.h"
#include "h5_text_internal.h"

#include <stdio.h>
#include <string.h>

enum { READ_ROWS = 1 << 16, NEW_ROW_BYTES = 512, NEW_STORE_BYTES = 4 << 20 };

/* Rows by identity: open addressing, at most half full. */
struct index {
    struct slot {
        struct hash identity;
        uint64_t row;
        bool used;
    } *slots; /* owned */
    size_t mask;
};

static enum status index_make(struct index *index, uint64_t count)
{
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    index->mask = size - 1;
    index->slots = mem_array(size, sizeof *index->slots);
    return index->slots ? STATUS_OK : STATUS_NOMEM;
}

/* Return the identity's slot, or the free one where it belongs. */
static struct slot *index_slot(struct index *index, struct hash identity)
{
    size_t at = identity.low & index->mask;
    while (index->slots[at].used && !hash_equal(index->slots[at].identity, identity))
        at = (at + 1) & index->mask;
    return &index->slots[at];
}

static enum status index_texts(struct index *index, uint64_t first, size_t count, char *const *texts)
{
    for (size_t i = 0; i < count; i++) {
        struct hash identity;
        if (!hash_from_hex(texts[i], &identity))
            return status_fail(STATUS_CORRUPT, "row %llu has the identity \"%s\"", (unsigned long long)(first + i), texts[i]);
        *index_slot(index, identity) = (struct slot){identity, first + i, true};
    }
    return STATUS_OK;
}

static enum status index_file(struct index *index, hid_t file, uint64_t rows)
{
    hid_t dataset;
    enum status status = h5_open_dataset(file, "identity", &dataset);
    if (status)
        return status;
    char **texts = mem_array(READ_ROWS, sizeof *texts);
    if (!texts)
        status = STATUS_NOMEM;
    for (uint64_t first = 0; !status && first < rows; first += READ_ROWS) {
        size_t count = rows - first < READ_ROWS ? (size_t)(rows - first) : READ_ROWS;
        status = h5_text_read(dataset, "identity", first, count, texts);
        if (!status)
            status = index_texts(index, first, count, texts);
        for (size_t i = 0; i < count; i++)
            mem_free(texts[i]);
    }
    mem_free(texts);
    H5Dclose(dataset);
    return status;
}

static void number_units(struct admission *admission, struct index *index)
{
    for (size_t unit = 0; unit < admission->units->count; unit++) {
        struct hash identity = admission->units->identities[unit];
        struct slot *slot = index_slot(index, identity);
        if (!slot->used) {
            *slot = (struct slot){identity, admission->rows, true};
            admission->new_units[admission->rows++ - admission->old_rows] = unit;
        }
        admission->out[unit].row = slot->row;
    }
}

/* Whether columns or attributes are to be added, or a unit was left running. */
static enum status find_changes(struct admission *admission, hid_t file)
{
    const struct layout *layout = admission->layout;
    char name[LAYOUT_NAME_SIZE], *text;
    enum status status = STATUS_OK;
    admission->changes = file < 0 || admission->rows > admission->old_rows;
    for (size_t i = 0; i < layout->column_count && !admission->changes; i++) {
        layout_column_name(layout->columns[i].name, name);
        admission->changes = H5Lexists(file, name, H5P_DEFAULT) <= 0;
    }
    for (size_t i = 0; !status && i < layout->attribute_count && !admission->changes; i++) {
        admission->changes = !h5_has(file, layout->attributes[i].name);
        if (admission->changes)
            break;
        status = h5_text_get(file, layout->attributes[i].name, &text);
        admission->changes = !status && strcmp(text, layout->attributes[i].text) != 0;
        mem_free(text);
    }
    if (status || admission->changes)
        return status;
    status = admission_read_states(admission, file);
    for (size_t unit = 0; !status && unit < admission->units->count; unit++)
        admission->changes = admission->changes || admission->out[unit].status == UNIT_RUNNING;
    return status;
}

enum status admission_find(struct admission *admission, hid_t file)
{
    struct index index = {0};
    struct schema schema = {0};
    size_t count = admission->units->count;
    enum status status = file < 0 ? STATUS_OK : schema_read(file, "the store", &schema);
    admission->old_rows = admission->rows = schema.rows;
    admission->new_units = mem_array(count, sizeof *admission->new_units);
    if (!status && !admission->new_units)
        status = STATUS_NOMEM;
    if (!status)
        status = index_make(&index, schema.rows + count);
    if (!status && file >= 0)
        status = index_file(&index, file, schema.rows);
    if (!status)
        number_units(admission, &index);
    mem_free(index.slots);
    return status ? status : find_changes(admission, file);
}

uint64_t admission_growth(const struct admission *admission)
{
    uint64_t columns = COLUMN_COUNT + admission->layout->column_count;
    return (admission->rows - admission->old_rows) * (NEW_ROW_BYTES + 16 * columns) + NEW_STORE_BYTES;
}

/* Keep a text that is replaced under NAME.1, NAME.2, ... */
static enum status keep_old(hid_t file, const char *name, const char *text)
{
    char old[LAYOUT_NAME_SIZE + 16];
    int number = 1;
    do
        snprintf(old, sizeof old, "%.100s.%d", name, number++);
    while (h5_has(file, old));
    return h5_text_put(file, old, text);
}

static enum status put_attribute(hid_t file, const struct layout_attribute *attribute)
{
    char *text = NULL;
    if (!h5_has(file, attribute->name))
        return h5_text_put(file, attribute->name, attribute->text);
    enum status status = h5_text_get(file, attribute->name, &text);
    bool same = !status && strcmp(text, attribute->text) == 0;
    if (!status && !same)
        status = keep_old(file, attribute->name, text);
    if (!status && !same)
        status = h5_text_put(file, attribute->name, attribute->text);
    mem_free(text);
    return status;
}

/* `is_new` [column_count] receives which were missing. */
static enum status add_columns(hid_t file, const struct layout *layout, uint64_t rows, bool *is_new)
{
    char name[LAYOUT_NAME_SIZE];
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < layout->column_count; i++) {
        layout_column_name(layout->columns[i].name, name);
        is_new[i] = H5Lexists(file, name, H5P_DEFAULT) <= 0;
        if (is_new[i])
            status = schema_add_column(file, &layout->columns[i], rows);
    }
    return status;
}

/* A new row's value before the unit has run. */
static enum status set_own(struct columns *columns, uint64_t row, int column, const char *identity, const char *arm)
{
    switch (column) {
    case COLUMN_identity: return columns_set_text(columns, row, column, identity);
    case COLUMN_arm: return columns_set_text(columns, row, column, arm);
    case COLUMN_rank: return columns_set_integer(columns, row, column, -1);
    default: break;
    }
    if (layout_columns_table[column].type == LAYOUT_TEXT)
        return columns_set_text(columns, row, column, "");
    return STATUS_OK; /* the fill value */
}

static enum status add_row(const struct admission *admission, struct columns *columns, const int *places, uint64_t row)
{
    const struct writer_units *units = admission->units;
    size_t unit = admission->new_units[row - admission->old_rows];
    struct writer_text value;
    char identity[HASH_HEX_SIZE];
    hash_hex(units->identities[unit], identity);
    enum status status = units->describe(units->context, unit, WRITER_ARM, &value);
    for (int column = 0; !status && column < COLUMN_COUNT; column++)
        status = set_own(columns, row, column, identity, value.text);
    for (size_t i = 0; !status && i < admission->layout->column_count; i++) {
        status = units->describe(units->context, unit, i, &value);
        if (!status)
            status = (value.again && row > admission->old_rows ? columns_repeat : columns_parse)(columns, row, places[i], value.text);
    }
    return status;
}

/* Write "" to a text column that was added now at the rows that were there before. */
static enum status clear_new_columns(const struct layout *layout, const bool *is_new, struct columns *columns, uint64_t old_rows)
{
    char name[LAYOUT_NAME_SIZE];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < layout->column_count; i++) {
        layout_column_name(layout->columns[i].name, name);
        for (uint64_t row = 0; !status && is_new[i] && layout->columns[i].type == LAYOUT_TEXT && row < old_rows; row++)
            status = columns_set_text(columns, row, columns_find(columns, name), "");
    }
    return status;
}

static enum status add_rows(const struct admission *admission, struct columns *columns)
{
    const struct layout *layout = admission->layout;
    int *places = mem_array(layout->column_count, sizeof *places);
    char name[LAYOUT_NAME_SIZE];
    if (!places)
        return STATUS_NOMEM;
    for (size_t i = 0; i < layout->column_count; i++) {
        layout_column_name(layout->columns[i].name, name);
        places[i] = columns_find(columns, name);
    }
    enum status status = STATUS_OK;
    for (uint64_t row = admission->old_rows; !status && row < admission->rows; row++)
        status = add_row(admission, columns, places, row);
    mem_free(places);
    return status;
}

/* Read a whole integer column of a file that has `rows` rows, owned by the caller. */
static enum status read_integers(hid_t file, const char *name, uint64_t rows, int64_t **out)
{
    hid_t dataset;
    *out = NULL;
    enum status status = h5_open_dataset(file, name, &dataset);
    if (status)
        return status;
    *out = mem_array(rows, sizeof **out);
    status = !*out ? STATUS_NOMEM : rows ? h5_read(dataset, name, H5T_NATIVE_INT64, NULL, *out) : STATUS_OK;
    H5Dclose(dataset);
    return status;
}

static enum status reset_running(const int64_t *states, struct columns *columns, uint64_t rows)
{
    enum status status = STATUS_OK;
    for (uint64_t row = 0; !status && row < rows; row++)
        if (states[row] == UNIT_RUNNING)
            status = columns_set_integer(columns, row, COLUMN_status, UNIT_PENDING);
    return status;
}

enum status admission_edit(hid_t file, const struct schema *schema, void *context)
{
    const struct admission *admission = context;
    const struct layout *layout = admission->layout;
    struct columns *columns = NULL;
    int64_t *states = NULL; /* before the file grows */
    bool *is_new = mem_array(layout->column_count, sizeof *is_new);
    enum status status = is_new ? read_integers(file, "status", schema->rows, &states) : STATUS_NOMEM;
    for (size_t i = 0; !status && i < layout->attribute_count; i++)
        status = put_attribute(file, &layout->attributes[i]);
    if (!status)
        status = add_columns(file, layout, schema->rows, is_new);
    if (!status)
        status = schema_grow(file, schema->rows, admission->rows);
    if (!status)
        status = columns_open(file, admission->rows, schema->rows, &columns);
    if (!status)
        status = clear_new_columns(layout, is_new, columns, schema->rows);
    if (!status)
        status = reset_running(states, columns, schema->rows);
    if (!status)
        status = add_rows(admission, columns);
    if (!status)
        status = columns_flush(columns);
    status = columns_close(columns, status);
    mem_free(is_new);
    mem_free(states);
    return status;
}

enum status admission_read_states(struct admission *admission, hid_t file)
{
    int64_t *states = NULL, *attempts = NULL;
    struct schema schema;
    enum status status = schema_read(file, "the store", &schema);
    if (!status)
        status = read_integers(file, "status", schema.rows, &states);
    if (!status)
        status = read_integers(file, "attempts", schema.rows, &attempts);
    for (size_t unit = 0; !status && unit < admission->units->count; unit++) {
        struct writer_unit *out = &admission->out[unit];
        int64_t state = states[out->row];
        if (state < 0 || state >= UNIT_STATUS_COUNT)
            status = status_fail(STATUS_CORRUPT, "row %llu has the status %lld", (unsigned long long)out->row, (long long)state);
        out->status = (enum unit_status)state;
        out->attempts = (uint32_t)attempts[out->row];
    }
    mem_free(states);
    mem_free(attempts);
    return status;
}

void admission_free(struct admission *admission)
{
    mem_free(admission->new_units);
    admission->new_units = NULL;
}

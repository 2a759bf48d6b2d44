#include "bnsweep/store/verify.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/store/reader_unit.h"
#include "h5_text_internal.h"
#include "keeping_internal.h"
#include "reader_internal.h"

#include <hdf5_hl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { READ_BYTES = 8 << 20, UNIT_ROWS = 4096 };

struct verification {
    const struct reader *reader;
    struct verify_report *report;
    void (*problem)(void *context, const char *text);
    void *context;
    enum status status; /* of the verification itself, not of what it finds */
};

static void find(struct verification *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(struct verification *to, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    to->report->problems++;
    if (to->problem)
        to->problem(to->context, text);
}

static herr_t keep_scale(hid_t dataset, unsigned axis, hid_t scale, void *length)
{
    hsize_t size[LAYOUT_MAX_RANK];
    (void)dataset, (void)axis;
    *(hsize_t *)length = h5_sizes(scale, size) == 1 ? size[0] : 0;
    return 1;
}

/* Every axis has a dimension scale of its length. */
static void verify_axes(struct verification *to, hid_t dataset, const char *name)
{
    hsize_t size[LAYOUT_MAX_RANK] = {0}, length;
    int rank = h5_sizes(dataset, size);
    if (rank < 1) {
        find(to, "%s: its rank is not one that a store has", name);
        return;
    }
    if (H5DSis_scale(dataset) > 0)
        return;
    for (int axis = 0; axis < rank; axis++) {
        length = 0;
        if (H5DSiterate_scales(dataset, (unsigned)axis, NULL, keep_scale, &length) < 0 || length != size[axis])
            find(to, "%s: its axis %d has length %llu, the dimension there %llu", name, axis, (unsigned long long)size[axis],
                 (unsigned long long)length);
    }
}

static bool is_kept(const char *name)
{
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (variables_kept(variables_table[id].group) && strcmp(variables_table[id].name, name) == 0)
            return true;
    return false;
}

/* Whether a row of a kept variable, which has chunks of its own, has any. */
static bool is_written(hid_t dataset, hsize_t row)
{
    const hsize_t first[LAYOUT_MAX_RANK] = {row};
    unsigned filters;
    haddr_t address = HADDR_UNDEF;
    hsize_t size;
    return H5Dget_chunk_info_by_coord(dataset, first, &filters, &address, &size) < 0 || address != HADDR_UNDEF;
}

/* Read all rows of a number variable; HDF5 checks each chunk's checksum on the way. */
static enum status read_numbers(struct verification *to, hid_t dataset, const char *name, size_t element, int rank, const hsize_t *size)
{
    size_t row = element;
    struct h5_slab slab = {.rank = rank};
    for (int i = 1; i < rank; i++) {
        slab.count[i] = size[i];
        if (!mem_multiply(&row, size[i]))
            return status_fail(STATUS_NOMEM, "%s: a row is too large", name);
    }
    bool kept = is_kept(name);
    hsize_t rows = row < READ_BYTES && !kept ? READ_BYTES / row : 1;
    rows = rows < size[0] ? rows : size[0];
    void *buffer = mem_array(rows, row);
    hid_t type = H5Dget_type(dataset);
    enum status status = buffer ? STATUS_OK : STATUS_NOMEM;
    for (hsize_t first = 0; !status && first < size[0]; first += rows) {
        if (kept && !is_written(dataset, first))
            continue;
        slab.start[0] = first;
        slab.count[0] = size[0] - first < rows ? size[0] - first : rows;
        status = h5_read(dataset, name, type, &slab, buffer);
        to->report->bytes += row * slab.count[0];
    }
    H5Tclose(type);
    mem_free(buffer);
    return status;
}

static enum status read_texts(struct verification *to, hid_t dataset, const char *name, hsize_t rows)
{
    char **texts = mem_array(rows < UNIT_ROWS ? (size_t)rows : UNIT_ROWS, sizeof *texts);
    enum status status = texts ? STATUS_OK : STATUS_NOMEM;
    for (hsize_t first = 0; !status && first < rows; first += UNIT_ROWS) {
        size_t count = rows - first < UNIT_ROWS ? (size_t)(rows - first) : UNIT_ROWS;
        status = h5_text_read(dataset, name, first, count, texts);
        for (size_t i = 0; i < count; i++) {
            to->report->bytes += texts[i] ? strlen(texts[i]) : 0;
            mem_free(texts[i]);
        }
    }
    mem_free(texts);
    return status;
}

static herr_t verify_variable(hid_t file, const char *name, void *context)
{
    struct verification *to = context;
    hsize_t size[LAYOUT_MAX_RANK] = {0};
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0) {
        find(to, "%s: cannot be opened", name);
        return 0;
    }
    verify_axes(to, dataset, name);
    int rank = h5_sizes(dataset, size);
    hid_t type = H5Dget_type(dataset);
    enum status status = rank < 1                               ? STATUS_OK
                         : H5Tget_class(type) == H5T_STRING ? read_texts(to, dataset, name, size[0])
                                                            : read_numbers(to, dataset, name, H5Tget_size(type), rank, size);
    if (status == STATUS_NOMEM)
        to->status = status;
    else if (status)
        find(to, "%s: %s", name, status_message());
    to->report->variables++;
    H5Tclose(type);
    H5Dclose(dataset);
    return to->status ? -1 : 0;
}

/* What verify_units goes by: the checks' steps, and a block of units with their steps made. */
struct unit_block {
    int64_t *checks;           /* [extent.checks] */
    struct reader_unit *units; /* [UNIT_ROWS, or all] */
    int64_t *steps;            /* the same number */
};

/* A unit that is shorter than others makes no checks behind its end. While its end is only in the journal, its steps are not known. */
static enum status verify_unit(struct verification *to, const struct unit_block *block, size_t index)
{
    const struct reader_unit *unit = &block->units[index];
    size_t due = 0;
    to->report->units[unit->status]++;
    for (size_t check = 0; check < to->reader->schema.extent.checks; check++)
        due += block->checks[check] <= block->steps[index];
    if (unit->status != UNIT_DONE || block->steps[index] <= 0)
        return STATUS_OK;
    if (unit->checks != due) {
        to->report->incomplete_units++;
        to->report->missing_checks += due > unit->checks ? due - unit->checks : 0;
        find(to, "row %llu is done, but has %u of %zu checks", (unsigned long long)unit->row, unit->checks, due);
    }
    return STATUS_OK;
}

static enum status verify_block(struct verification *to, const struct unit_block *block, uint64_t first, size_t count)
{
    enum status status = reader_integers(to->reader, layout_columns_table[COLUMN_steps_done].name, first, count, block->steps);
    if (status)
        return status;
    status = reader_unit_list(to->reader, first, count, block->units);
    for (size_t i = 0; !status && i < count; i++)
        status = verify_unit(to, block, i);
    reader_unit_free(block->units, count);
    return status;
}

static enum status verify_units(struct verification *to)
{
    uint64_t rows = to->reader->schema.rows;
    size_t checks = to->reader->schema.extent.checks;
    size_t most = rows < UNIT_ROWS ? (size_t)rows : UNIT_ROWS;
    struct unit_block block = {mem_array(checks, sizeof *block.checks), mem_array(most, sizeof *block.units),
                               mem_array(most, sizeof *block.steps)};
    enum status status = block.checks && block.units && block.steps ? STATUS_OK : STATUS_NOMEM;
    if (!status && checks)
        status = reader_axis_integers(to->reader, layout_axes_table[AXIS_CHECK].name, block.checks);
    for (uint64_t first = 0; !status && first < rows; first += UNIT_ROWS) {
        size_t count = rows - first < UNIT_ROWS ? (size_t)(rows - first) : UNIT_ROWS;
        status = verify_block(to, &block, first, count);
    }
    mem_free(block.checks);
    mem_free(block.units);
    mem_free(block.steps);
    return status;
}

/* A unit that has kept its last step has kept all. (One that was interrupted, and later replayed from another, may have kept the first
 * ones.) And one unit of each trajectory has. */
static enum status verify_kept(struct verification *to)
{
    struct keeping_unit *units;
    size_t count;
    enum status status = keeping_list(to->reader->file, &to->reader->schema, &units, &count);
    for (size_t i = 0, end; !status && i < count; i = end) {
        bool whole, said = false;
        end = keeping_trajectory(units, count, i, &whole);
        for (size_t k = i; k < end; k++) {
            const struct keeping_unit *unit = &units[k];
            if (!unit->last || unit->gap == VARIABLE_COUNT)
                continue;
            said = true;
            find(to, "row %llu is done, but has %zu of %zu positions of %s", (unsigned long long)unit->row, unit->there, unit->due,
                 variables_table[unit->gap].name);
        }
        if (!whole && !said)
            find(to, "row %llu is done, but no unit of its trajectory has kept %s: other BN momenta of it will be trained, not replayed",
                 (unsigned long long)units[i].row, variables_table[units[i].gap].name);
    }
    mem_free(units);
    return status;
}

static enum status verify_contents(struct verification *to)
{
    const struct reader_journal *journal = &to->report->journal;
    if (journal->health)
        find(to, "journal: %s", journal->message);
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (layout_has_variable((enum variable_id)id, &to->reader->schema.extent) &&
            H5Lexists(to->reader->file, variables_table[id].name, H5P_DEFAULT) <= 0)
            find(to, "%s: is missing", variables_table[id].name);
    if (h5_each_variable(to->reader->file, H5_INDEX_CRT_ORDER, verify_variable, to) < 0)
        return to->status ? to->status : h5_fail(STATUS_CORRUPT, "cannot list the store's variables");
    enum status status = verify_units(to);
    if (!status)
        status = verify_kept(to);
    if (status == STATUS_NOMEM)
        return status;
    if (status)
        find(to, "%s", status_message());
    return STATUS_OK;
}

enum status verify_store(const char *path, void (*problem)(void *context, const char *text), void *context,
                         struct verify_report *out)
{
    struct reader *reader;
    *out = (struct verify_report){0};
    enum status status = reader_open(path, &reader);
    if (status)
        return status;
    struct verification to = {.reader = reader, .report = out, .problem = problem, .context = context};
    out->rows = reader_rows(reader);
    out->journal = *reader_journal(reader);
    status = verify_contents(&to);
    reader_close(reader);
    if (!status && out->problems)
        status = status_fail(STATUS_MISMATCH, "%s: %llu problems found", path, (unsigned long long)out->problems);
    return status;
}

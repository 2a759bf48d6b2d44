#include "tidy.h"

#include "text/csv.h"

#include "bnsweep/base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 << 20, UNIT_ROWS = 4096 };

/* The files, one for each set of axes. */
static const struct file {
    const char *name;
    enum variable_group group;
    enum variable_dims dims;
} files[] = {
    {"channels_init.csv", GROUP_UNIT, DIMS_CHANNEL}, {"checks.csv", GROUP_CHECK, DIMS_NONE},
    {"channels.csv", GROUP_CHECK, DIMS_CHANNEL},     {"reest.csv", GROUP_CHECK, DIMS_REEST},
    {"swap_layer.csv", GROUP_CHECK, DIMS_LAYER},     {"swap_top.csv", GROUP_CHECK, DIMS_ORDER_K},
    {"ema.csv", GROUP_CHECK, DIMS_EMA},              {"trace.csv", GROUP_TRACE, DIMS_CHANNEL},
};

/* The labels along an axis, ready to print. */
struct labels {
    size_t length;
    char **texts; /* [length] owned, each too: "conv1,3,3" of a channel, with the comma-separated columns it stands for */
};

static void free_labels(struct labels *labels)
{
    for (size_t i = 0; labels->texts && i < labels->length; i++)
        mem_free(labels->texts[i]);
    mem_free(labels->texts);
}

static const char *heading(enum layout_axis axis)
{
    return axis == AXIS_CHECK || axis == AXIS_SAMPLE ? "step" : axis == AXIS_CHANNEL ? "layer,channel,index" : layout_axes_table[axis].name;
}

/* "LAYER,CHANNEL,INDEX" of every channel. */
static enum status label_channels(const struct reader *reader, struct labels *out)
{
    const struct variables_extent *extent = reader_extent(reader);
    int64_t *layer = mem_array(extent->channels, sizeof *layer), *index = mem_array(extent->channels, sizeof *index);
    struct labels names = {extent->layers, mem_array(extent->layers, sizeof *names.texts)};
    enum status status = layer && index && names.texts ? reader_axis_integers(reader, "channel_layer", layer) : STATUS_NOMEM;
    if (!status)
        status = reader_axis_integers(reader, "channel_index", index);
    if (!status)
        status = reader_axis_texts(reader, layout_axes_table[AXIS_LAYER].name, names.texts);
    for (size_t i = 0; !status && i < out->length; i++) {
        char text[256];
        bool known = layer[i] >= 1 && (size_t)layer[i] <= names.length;
        snprintf(text, sizeof text, "%s,%zu,%" PRId64, known ? names.texts[layer[i] - 1] : "", i, index[i]);
        status = (out->texts[i] = mem_text(text)) ? STATUS_OK : STATUS_NOMEM;
    }
    mem_free(layer);
    mem_free(index);
    free_labels(&names);
    return status;
}

static enum status label_numbers(const struct reader *reader, enum layout_axis axis, struct labels *out)
{
    const struct layout_axis_info *info = &layout_axes_table[axis];
    int64_t *integers = mem_array(out->length, sizeof *integers);
    double *reals = mem_array(out->length, sizeof *reals);
    enum status status = !integers || !reals            ? STATUS_NOMEM
                         : info->type == LAYOUT_INTEGER ? reader_axis_integers(reader, info->name, integers)
                                                        : reader_axis_reals(reader, info->name, reals);
    for (size_t i = 0; !status && i < out->length; i++) {
        char text[CSV_NUMBER_SIZE];
        if (info->type == LAYOUT_INTEGER)
            snprintf(text, sizeof text, "%" PRId64, integers[i]);
        else
            csv_format_real(reals[i], text);
        status = (out->texts[i] = mem_text(text)) ? STATUS_OK : STATUS_NOMEM;
    }
    mem_free(integers);
    mem_free(reals);
    return status;
}

static enum status label_axis(const struct reader *reader, enum layout_axis axis, struct labels *out)
{
    out->length = layout_length(reader_extent(reader), axis);
    out->texts = mem_array(out->length, sizeof *out->texts);
    if (!out->texts)
        return STATUS_NOMEM;
    if (axis == AXIS_CHANNEL)
        return label_channels(reader, out);
    return layout_axes_table[axis].type == LAYOUT_TEXT ? reader_axis_texts(reader, layout_axes_table[axis].name, out->texts)
                                                       : label_numbers(reader, axis, out);
}

/* One file while it is written. */
struct output {
    const struct reader *reader;
    FILE *out;
    enum variable_id variables[VARIABLE_COUNT];
    size_t variable_count, size; /* size: values of one variable in a unit */
    int rank;                    /* axes behind unit */
    struct labels labels[LAYOUT_MAX_RANK];
    float *values; /* [variable_count][rows][size] */
};

static void print_head(const struct output *file, const enum layout_axis *axes)
{
    fputs("unit", file->out);
    for (int i = 1; i <= file->rank; i++)
        fprintf(file->out, ",%s", heading(axes[i]));
    for (size_t v = 0; v < file->variable_count; v++)
        fprintf(file->out, ",%s", variables_table[file->variables[v]].name);
    fputc('\n', file->out);
}

/* Print one observation: its unit, its place on every axis, and the values that lie `stride` apart; nothing where all are NaN. */
static void print_observation(const struct output *file, uint64_t unit, size_t place, const float *values, size_t stride)
{
    size_t index[LAYOUT_MAX_RANK] = {0};
    bool measured = false;
    for (size_t v = 0; v < file->variable_count && !measured; v++)
        measured = !isnan(values[v * stride]);
    if (!measured)
        return;
    for (int i = file->rank; i-- > 0;) {
        index[i] = place % file->labels[i].length;
        place /= file->labels[i].length;
    }
    fprintf(file->out, "%" PRIu64, unit);
    for (int i = 0; i < file->rank; i++) {
        fputc(',', file->out);
        fputs(file->labels[i].texts[index[i]], file->out);
    }
    for (size_t v = 0; v < file->variable_count; v++) {
        fputc(',', file->out);
        csv_float(file->out, values[v * stride]);
    }
    fputc('\n', file->out);
}

static enum status print_values(struct output *file, size_t rows)
{
    enum status status = STATUS_OK;
    uint64_t total = reader_rows(file->reader);
    for (uint64_t first = 0; !status && first < total && !ferror(file->out); first += rows) {
        size_t count = total - first < rows ? (size_t)(total - first) : rows, stride = rows * file->size;
        for (size_t v = 0; !status && v < file->variable_count; v++)
            status = reader_values(file->reader, file->variables[v], first, count, file->values + v * stride);
        for (size_t i = 0; !status && i < count * file->size; i++)
            print_observation(file, first + i / file->size, i % file->size, file->values + i, stride);
    }
    return status;
}

static enum status write_file(const struct reader *reader, const struct folder *folder, const struct file *which,
                              struct output *file)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    file->rank = layout_variable_axes(file->variables[0], axes) - 1;
    file->size = 1;
    enum status status = STATUS_OK;
    for (int i = 0; !status && i < file->rank; i++) {
        file->size *= layout_length(reader_extent(reader), axes[i + 1]);
        status = label_axis(reader, axes[i + 1], &file->labels[i]);
    }
    size_t one = file->size * file->variable_count * sizeof(float), rows = BLOCK_BYTES / one ? BLOCK_BYTES / one : 1;
    rows = rows < reader_rows(reader) ? rows : (size_t)reader_rows(reader);
    if (!status && !(file->values = mem_array(rows, one)))
        status = STATUS_NOMEM;
    if (!status)
        status = folder_open(folder, which->name, &file->out);
    if (!status) {
        print_head(file, axes);
        status = folder_close(folder, which->name, file->out, rows ? print_values(file, rows) : STATUS_OK);
    }
    for (int i = 0; i < file->rank; i++)
        free_labels(&file->labels[i]);
    mem_free(file->values);
    return status;
}

enum status tidy_values(const struct reader *reader, const struct folder *folder)
{
    enum status status = STATUS_OK;
    for (size_t f = 0; !status && f < sizeof files / sizeof *files; f++) {
        struct output file = {.reader = reader};
        for (int id = 0; id < VARIABLE_COUNT; id++)
            if (variables_table[id].group == files[f].group && variables_table[id].dims == files[f].dims &&
                layout_has_variable((enum variable_id)id, reader_extent(reader)))
                file.variables[file.variable_count++] = (enum variable_id)id;
        if (file.variable_count)
            status = write_file(reader, folder, &files[f], &file);
    }
    return status;
}

/* Print one unit's columns, `stride` apart in `texts`, and its status in words. */
static void print_unit(const struct reader *reader, FILE *out, uint64_t row, char *const *texts, size_t stride)
{
    int64_t status = -1;
    fprintf(out, "%" PRIu64, row);
    for (size_t c = 0; c < reader_column_count(reader); c++) {
        const struct reader_column *column = reader_column(reader, c);
        const char *text = texts[c * stride];
        if (strcmp(column->name, layout_columns_table[COLUMN_status].name) == 0)
            status = strtoll(text, NULL, 10);
        fputc(',', out);
        csv_text(out, column->type != LAYOUT_TEXT && strcmp(text, "nan") == 0 ? "" : text);
    }
    fprintf(out, ",%s\n", layout_status_name(status));
}

static enum status print_units(const struct reader *reader, FILE *out)
{
    size_t columns = reader_column_count(reader), total = (size_t)reader_rows(reader);
    char **texts = mem_array(columns * UNIT_ROWS, sizeof *texts);
    enum status status = texts ? STATUS_OK : STATUS_NOMEM;
    fputs("unit", out);
    for (size_t c = 0; c < columns; c++) {
        fputc(',', out);
        csv_text(out, reader_column(reader, c)->name);
    }
    fputs(",status_name\n", out);
    for (size_t first = 0; !status && first < total; first += UNIT_ROWS) {
        size_t count = total - first < UNIT_ROWS ? total - first : UNIT_ROWS;
        for (size_t c = 0; !status && c < columns; c++)
            status = reader_texts(reader, reader_column(reader, c)->name, first, count, texts + c * UNIT_ROWS);
        for (size_t i = 0; !status && i < count; i++)
            print_unit(reader, out, first + i, texts + i, UNIT_ROWS);
        for (size_t t = 0; t < columns * UNIT_ROWS; t++) {
            mem_free(texts[t]);
            texts[t] = NULL;
        }
    }
    mem_free(texts);
    return status;
}

enum status tidy_units(const struct reader *reader, const struct folder *folder)
{
    FILE *out;
    enum status status = folder_open(folder, "units.csv", &out);
    return status ? status : folder_close(folder, "units.csv", out, print_units(reader, out));
}

#include "table.h"

#include "ranking.h"
#include "text/csv.h"
#include "text/tabulate.h"

#include "bnsweep/base/mem.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What stands in a row under a key. Files are told apart by their hash, but shown by their name. */
static const char *key_text(const struct ranking *ranking, const struct frame_column *column, size_t unit)
{
    if (column->key != SETTING_file_hash && column->key != SETTING_init_hash)
        return frame_text(column, unit);
    column = frame_setting(ranking->frame, column->key == SETTING_file_hash ? SETTING_file : SETTING_init);
    const char *path = column ? frame_text(column, unit) : "", *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *key_label(const struct frame_column *column)
{
    return column->key == SETTING_file_hash   ? settings_table[SETTING_file].key
           : column->key == SETTING_init_hash ? settings_table[SETTING_init].key
                                              : column->label;
}

static void add_measure(struct tabulate *table, const struct ranking_row *row, int id)
{
    const struct summary *summary = &summary_table[id];
    double mean = row->mean[id] * summary->factor, deviation = row->deviation[id] * summary->factor;
    if (isnan(mean))
        tabulate_cell(table, "-");
    else if (isnan(deviation))
        tabulate_cell(table, "%.*f%s", summary->digits, mean, summary->unit);
    else
        tabulate_cell(table, "%.*f%s ± %.*f", summary->digits, mean, summary->unit, summary->digits, deviation);
}

/* "3", or "1 of 3: 1 diverged, 1 pending". */
static void add_units(struct tabulate *table, const struct ranking_row *row)
{
    char text[256];
    size_t at = (size_t)snprintf(text, sizeof text, "%zu", row->units[UNIT_DONE]), listed = 0;
    if (row->units[UNIT_DONE] != row->count)
        at += (size_t)snprintf(text + at, sizeof text - at, " of %zu", row->count);
    for (int state = UNIT_STATUS_COUNT; state-- > 0;)
        if (state != UNIT_DONE && row->units[state])
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%zu %s", listed++ ? ", " : ": ", row->units[state],
                                   layout_status_name(state));
    tabulate_cell(table, "%s", text);
}

static enum status print_rows(const struct ranking *ranking, FILE *out, enum tabulate_style style)
{
    size_t count = 1 + ranking->key_count + SUMMARY_COUNT + 1, at = 0;
    struct tabulate_column *columns = mem_array(count, sizeof *columns);
    if (!columns)
        return STATUS_NOMEM;
    columns[at++] = (struct tabulate_column){"arm", false};
    for (size_t i = 0; i < ranking->key_count; i++)
        columns[at++] = (struct tabulate_column){key_label(ranking->keys[i]), ranking->keys[i]->type != LAYOUT_TEXT};
    for (int id = 0; id < SUMMARY_COUNT; id++)
        columns[at++] = (struct tabulate_column){summary_table[id].heading, true};
    columns[at++] = (struct tabulate_column){"units done", false};
    struct tabulate table = {.columns = columns, .column_count = count};
    for (size_t r = 0; r < ranking->count; r++) {
        const struct ranking_row *row = &ranking->rows[r];
        size_t unit = ranking->units[row->first];
        tabulate_cell(&table, "%s", frame_text(&ranking->frame->arm, unit));
        for (size_t i = 0; i < ranking->key_count; i++) {
            const char *text = key_text(ranking, ranking->keys[i], unit);
            tabulate_cell(&table, "%s", *text ? text : "-");
        }
        for (int id = 0; id < SUMMARY_COUNT; id++)
            add_measure(&table, row, id);
        add_units(&table, row);
    }
    enum status status = tabulate_print(&table, out, style);
    tabulate_free(&table);
    mem_free(columns);
    return status;
}

static void print_notes(const struct ranking *ranking, FILE *out)
{
    const struct reader_journal *journal = reader_journal(ranking->frame->reader);
    size_t done = 0;
    fprintf(out, "\nA row is an arm");
    for (size_t i = 0; i < ranking->key_count; i++)
        fprintf(out, "%s%s", i == 0 ? " with its " : i + 1 == ranking->key_count ? " and " : ", ", key_label(ranking->keys[i]));
    for (size_t r = 0; r < ranking->count; r++)
        done += ranking->rows[r].units[UNIT_DONE];
    fprintf(out, "; its units differ in their seed. Mean ± standard deviation over the units that are done.\n");
    if (done < ranking->frame->rows)
        fprintf(out, "%zu of %zu units are not done and not in the means.\n", ranking->frame->rows - done, ranking->frame->rows);
    if (journal->health)
        fprintf(out, "The journal cannot be used: %s\n", journal->message);
    else if (journal->waiting)
        fprintf(out, "%llu journal entries are not published yet and not in the table.\n", (unsigned long long)journal->waiting);
}

static enum status print_csv(const struct ranking *ranking, FILE *out)
{
    fputs("arm", out);
    for (size_t i = 0; i < ranking->key_count; i++) {
        fputc(',', out);
        csv_text(out, key_label(ranking->keys[i]));
    }
    for (int id = 0; id < SUMMARY_COUNT; id++)
        fprintf(out, ",%s,%s_sd", summary_table[id].name, summary_table[id].name);
    fputs(",units", out);
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        fprintf(out, ",%s", layout_status_name(state));
    fputc('\n', out);
    for (size_t r = 0; r < ranking->count; r++) {
        const struct ranking_row *row = &ranking->rows[r];
        csv_text(out, frame_text(&ranking->frame->arm, ranking->units[row->first]));
        for (size_t i = 0; i < ranking->key_count; i++) {
            fputc(',', out);
            csv_text(out, key_text(ranking, ranking->keys[i], ranking->units[row->first]));
        }
        for (int id = 0; id < SUMMARY_COUNT; id++) {
            fputc(',', out);
            csv_real(out, row->mean[id]);
            fputc(',', out);
            csv_real(out, row->deviation[id]);
        }
        fprintf(out, ",%zu", row->count);
        for (int state = 0; state < UNIT_STATUS_COUNT; state++)
            fprintf(out, ",%zu", row->units[state]);
        fputc('\n', out);
    }
    return STATUS_OK;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_row(const struct ranking *ranking, const struct ranking_row *row)
{
    size_t unit = ranking->units[row->first];
    json_t *object = json_object(), *settings = json_object();
    json_object_set_new(object, "arm", json_string(frame_text(&ranking->frame->arm, unit)));
    for (size_t i = 0; i < ranking->key_count; i++) {
        const struct frame_column *key = ranking->keys[i];
        const char *text = key_text(ranking, key, unit);
        json_object_set_new(settings, key_label(key),
                            !*text                     ? json_null()
                            : key->type == LAYOUT_TEXT ? json_string(text)
                                                       : json_real(strtod(text, NULL)));
    }
    json_object_set_new(object, "settings", settings);
    for (int id = 0; id < SUMMARY_COUNT; id++) {
        json_t *measure = json_object();
        json_object_set_new(measure, "mean", number(row->mean[id]));
        json_object_set_new(measure, "sd", number(row->deviation[id]));
        json_object_set_new(measure, "n", json_integer((json_int_t)row->measured[id]));
        json_object_set_new(object, summary_table[id].name, measure);
    }
    json_object_set_new(object, "units", json_integer((json_int_t)row->count));
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        json_object_set_new(object, layout_status_name(state), json_integer((json_int_t)row->units[state]));
    return object;
}

static enum status print_json(const struct ranking *ranking, FILE *out)
{
    json_t *object = json_object(), *rows = json_array();
    json_object_set_new(object, "store", json_string(ranking->frame->path));
    json_object_set_new(object, "journal_waiting", json_integer((json_int_t)reader_journal(ranking->frame->reader)->waiting));
    for (size_t r = 0; r < ranking->count; r++)
        json_array_append_new(rows, json_row(ranking, &ranking->rows[r]));
    json_object_set_new(object, "rows", rows);
    bool failed = json_dumpf(object, out, JSON_REAL_PRECISION(15) | JSON_INDENT(2)) != 0;
    json_decref(object);
    fputc('\n', out);
    return failed && !ferror(out) ? status_fail(STATUS_NOMEM, "%s", status_text(STATUS_NOMEM)) : STATUS_OK;
}

static enum status print(const struct ranking *ranking, FILE *out, enum table_format format)
{
    if (format == TABLE_CSV)
        return print_csv(ranking, out);
    if (format == TABLE_JSON)
        return print_json(ranking, out);
    enum status status = print_rows(ranking, out, format == TABLE_MARKDOWN ? TABULATE_MARKDOWN : TABULATE_PLAIN);
    if (!status)
        print_notes(ranking, out);
    return status;
}

enum status table_print(const char *path, FILE *out, enum table_format format)
{
    struct frame frame = {0};
    struct ranking ranking = {0};
    enum status status = frame_open(path, &frame);
    if (!status)
        status = ranking_make(&frame, &ranking);
    if (!status)
        status = print(&ranking, out, format);
    ranking_free(&ranking);
    frame_close(&frame);
    return status;
}

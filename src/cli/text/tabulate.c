#include "tabulate.h"

#include "bnsweep/base/mem.h"

#include <stdarg.h>
#include <string.h>

static bool grow(struct tabulate *table)
{
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    char **cells = mem_grow(table->cells, table->capacity, capacity, sizeof *cells);
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

void tabulate_cell(struct tabulate *table, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
    table->failed = table->failed || !grow(table) || !(table->cells[table->count] = mem_text(text));
    table->count += !table->failed;
}

/* UTF-8 characters: bytes that continue none. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* In Markdown a bar would end the cell. */
static void print_text(FILE *out, const char *text, bool markdown)
{
    for (; *text; text++) {
        if (markdown && *text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void print_blanks(FILE *out, size_t count)
{
    while (count-- > 0)
        fputc(' ', out);
}

static void print_row(const struct tabulate *table, FILE *out, bool markdown, const size_t *widths, size_t row, bool head)
{
    for (size_t c = 0; c < table->column_count; c++) {
        size_t at = row * table->column_count + c;
        const char *text = head ? table->columns[c].head : at < table->count ? table->cells[at] : "";
        size_t blanks = widths[c] > width_of(text) ? widths[c] - width_of(text) : 0;
        bool right = table->columns[c].right, last = c + 1 == table->column_count;
        fputs(markdown ? "| " : c ? "  " : "", out);
        if (right)
            print_blanks(out, blanks);
        print_text(out, text, markdown);
        if (!right && (markdown || !last))
            print_blanks(out, blanks);
        fputs(markdown ? " " : "", out);
    }
    fputs(markdown ? "|\n" : "\n", out);
}

static void print_rule(const struct tabulate *table, FILE *out, const size_t *widths)
{
    for (size_t c = 0; c < table->column_count; c++) {
        fputs("|", out);
        for (size_t i = 0; i < widths[c] + 1; i++)
            fputc('-', out);
        fputc(table->columns[c].right ? ':' : '-', out);
    }
    fputs("|\n", out);
}

enum status tabulate_print(const struct tabulate *table, FILE *out, enum tabulate_style style)
{
    bool markdown = style == TABULATE_MARKDOWN;
    size_t rows = (table->count + table->column_count - 1) / table->column_count;
    size_t *widths = table->failed ? NULL : mem_array(table->column_count, sizeof *widths);
    if (!widths)
        return STATUS_NOMEM;
    for (size_t c = 0; c < table->column_count; c++)
        widths[c] = width_of(table->columns[c].head);
    for (size_t i = 0; i < table->count; i++) {
        size_t width = width_of(table->cells[i]), c = i % table->column_count;
        widths[c] = width > widths[c] ? width : widths[c];
    }
    print_row(table, out, markdown, widths, 0, true);
    if (markdown)
        print_rule(table, out, widths);
    for (size_t row = 0; row < rows; row++)
        print_row(table, out, markdown, widths, row, false);
    mem_free(widths);
    return STATUS_OK;
}

void tabulate_free(struct tabulate *table)
{
    for (size_t i = 0; i < table->count; i++)
        mem_free(table->cells[i]);
    mem_free(table->cells);
    table->cells = NULL;
    table->count = table->capacity = 0;
}

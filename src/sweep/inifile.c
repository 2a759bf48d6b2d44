#include "bnsweep/sweep/inifile.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 1 << 20 };

static const char blanks[] = " \t";

static enum status fail_at(const struct inifile *file, int line, const char *message)
{
    return status_fail(STATUS_INPUT, "%s:%d: %s", file->path, line, message);
}

static char *copy(struct inifile *file, const char *start, size_t length)
{
    char *text = arena_array(&file->arena, length + 1, 1);
    if (text)
        memcpy(text, start, length);
    return text;
}

/* One line of the text, without its line end. */
struct line {
    const char *start, *end;
    int number;
};

/* Move to the next line (`at` starts as the text); false at the end. */
static bool next_line(const struct inifile *file, const char **at, struct line *line)
{
    const char *stop = file->text + file->size;
    if (*at == stop)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(stop - *at));
    line->start = *at;
    line->end = newline ? newline : stop;
    line->number++;
    *at = newline ? newline + 1 : stop;
    if (line->end > line->start && line->end[-1] == '\r')
        line->end--;
    if (line->number == 1 && line->end - line->start >= 3 && memcmp(line->start, "\xef\xbb\xbf", 3) == 0)
        line->start += 3;
    return true;
}

/* Return the length of the UTF-8 character at `at`; 0 where there is none. */
static size_t utf8_length(const unsigned char *at, const unsigned char *end)
{
    size_t length = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : *at >= 0xf0 && *at < 0xf5 ? 4 : 0;
    if (length > (size_t)(end - at))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static enum status check_bytes(const struct inifile *file, const struct line *line)
{
    size_t size = (size_t)(line->end - line->start);
    if (size > INIFILE_MAX_LINE)
        return status_fail(STATUS_INPUT, "%s:%d: the line has %zu bytes; allowed: at most %d (inih would read it as two lines)",
            file->path, line->number, size, INIFILE_MAX_LINE);
    const unsigned char *end = (const unsigned char *)line->end;
    for (const unsigned char *at = (const unsigned char *)line->start; at < end;) {
        size_t length = utf8_length(at, end);
        if (length == 0 || (*at < ' ' && *at != '\t') || *at == 127)
            return status_fail(STATUS_INPUT,
                "%s:%d: byte 0x%02x at column %d is not text; allowed: UTF-8 text, tabs, line ends LF or CRLF", file->path,
                line->number, *at, (int)(at - (const unsigned char *)line->start) + 1);
        at += length;
    }
    return STATUS_OK;
}

/* Return where a comment in `start`..`end` begins, a `mark` behind a blank; `end` where there is none. */
static const char *comment_at(const char *start, const char *end, char mark)
{
    for (const char *at = start; at < end; at++)
        if (*at == mark && at > start && strchr(blanks, at[-1]))
            return at;
    return end;
}

static enum status guard_section(struct inifile *file, const struct line *line)
{
    const char *name = line->start + 1, *close = memchr(name, ']', (size_t)(line->end - name));
    if (!close || comment_at(name, close, ';') < close)
        return fail_at(file, line->number, "a section without its closing bracket; allowed: [NAME]");
    size_t length = (size_t)(close - name);
    if (length > INIFILE_MAX_NAME)
        return status_fail(STATUS_INPUT, "%s:%d: the section name '%.*s' has %zu bytes; allowed: at most %d (inih would cut it)",
            file->path, line->number, (int)length, name, length, INIFILE_MAX_NAME);
    if (length == 0 || strchr(blanks, name[0]) || strchr(blanks, close[-1]))
        return fail_at(file, line->number, "an empty section name or blanks inside the brackets; allowed: [NAME]");
    const char *rest = close + 1;
    while (rest < line->end && strchr(blanks, *rest))
        rest++;
    if (rest < line->end && *rest != ';' && *rest != '#')
        return status_fail(STATUS_INPUT,
            "%s:%d: '%.*s' behind the section's bracket would be ignored; put it on a line of its own", file->path, line->number,
            (int)(line->end - rest), rest);
    for (size_t i = 0; i < file->section_count; i++)
        if (strlen(file->sections[i].name) == length && memcmp(file->sections[i].name, name, length) == 0)
            return status_fail(STATUS_INPUT, "%s:%d: section [%.*s] is there twice, first in line %d", file->path, line->number,
                (int)length, name, file->sections[i].line);
    char *kept = copy(file, name, length);
    if (!kept)
        return STATUS_NOMEM;
    file->sections[file->section_count++] = (struct inifile_section){kept, line->number};
    return STATUS_OK;
}

static enum status guard_key(struct inifile *file, const struct line *line)
{
    const char *equals = line->start, *comment = comment_at(line->start, line->end, ';');
    while (equals < comment && *equals != '=' && *equals != ':')
        equals++;
    if (equals == comment)
        return status_fail(STATUS_INPUT, "%s:%d: no '=' in '%.*s'; allowed: KEY = VALUE, [SECTION], or a comment after ; or #",
            file->path, line->number, (int)(line->end - line->start), line->start);
    const char *end = equals;
    while (end > line->start && strchr(blanks, end[-1]))
        end--;
    size_t length = (size_t)(end - line->start);
    if (length == 0)
        return fail_at(file, line->number, "no key before '='; allowed: KEY = VALUE");
    if (length > INIFILE_MAX_NAME)
        return status_fail(STATUS_INPUT, "%s:%d: the key '%.*s' has %zu bytes; allowed: at most %d", file->path, line->number,
            (int)length, line->start, length, INIFILE_MAX_NAME);
    if (file->section_count == 0)
        return status_fail(STATUS_INPUT, "%s:%d: key '%.*s' stands before any section; put a [SECTION] above it", file->path,
            line->number, (int)length, line->start);
    if (comment_at(equals + 1, comment, '#') < comment)
        return fail_at(file, line->number, "a '#' behind a value would become part of it; a comment there begins with ' ;'");
    size_t section = file->section_count - 1;
    for (size_t i = file->entry_count; i-- > 0 && file->entries[i].section == section;)
        if (strlen(file->entries[i].key) == length && memcmp(file->entries[i].key, line->start, length) == 0)
            return status_fail(STATUS_INPUT, "%s:%d: key '%.*s' is there twice in [%s], first in line %d", file->path,
                line->number, (int)length, line->start, file->sections[section].name, file->entries[i].line);
    char *kept = copy(file, line->start, length);
    if (!kept)
        return STATUS_NOMEM;
    file->entries[file->entry_count++] = (struct inifile_entry){section, line->number, kept, NULL};
    return STATUS_OK;
}

static enum status guard_line(struct inifile *file, const struct line *line)
{
    enum status status = check_bytes(file, line);
    if (status)
        return status;
    const char *first = line->start;
    while (first < line->end && strchr(blanks, *first))
        first++;
    if (first == line->end || *first == ';' || *first == '#')
        return STATUS_OK;
    if (first > line->start)
        return fail_at(file, line->number,
            "blanks before a key or section (inih would continue the value above); start it in the first column");
    return *first == '[' ? guard_section(file, line) : guard_key(file, line);
}

static enum status guard(struct inifile *file)
{
    size_t lines = 1;
    for (size_t i = 0; i < file->size; i++)
        lines += file->text[i] == '\n';
    file->sections = arena_array(&file->arena, lines, sizeof *file->sections);
    file->entries = arena_array(&file->arena, lines, sizeof *file->entries);
    if (!file->sections || !file->entries)
        return STATUS_NOMEM;
    struct line line = {0};
    const char *at = file->text;
    enum status status = STATUS_OK;
    while (!status && next_line(file, &at, &line))
        status = guard_line(file, &line);
    return status;
}

/* What inih is given, line by line, and what it has given back so far. */
struct feed {
    struct inifile *file;
    const char *at;
    struct line line;
    size_t entries;
    enum status status;
};

static char *feed_line(char *out, int size, void *stream)
{
    struct feed *feed = stream;
    if (feed->status || !next_line(feed->file, &feed->at, &feed->line))
        return NULL;
    size_t length = (size_t)(feed->line.end - feed->line.start);
    if (length >= (size_t)size) {
        feed->status = fail_at(feed->file, feed->line.number, "inih's lines are shorter than expected here");
        return NULL;
    }
    memcpy(out, feed->line.start, length);
    out[length] = 0;
    return out;
}

/* inih must see exactly the keys that the guard saw. */
static int take_entry(void *user, const char *section, const char *key, const char *value)
{
    struct feed *feed = user;
    struct inifile *file = feed->file;
    if (feed->status)
        return 0;
    struct inifile_entry *entry = feed->entries < file->entry_count ? &file->entries[feed->entries++] : NULL;
    if (!entry || entry->line != feed->line.number || strcmp(entry->key, key) != 0 ||
        strcmp(file->sections[entry->section].name, section) != 0) {
        feed->status = fail_at(file, feed->line.number, "inih reads this line in another way than it looks; write KEY = VALUE");
        return 0;
    }
    entry->value = copy(file, value, strlen(value));
    if (!entry->value)
        feed->status = STATUS_NOMEM;
    return entry->value != NULL;
}

static enum status parse(struct inifile *file)
{
    struct feed feed = {.file = file, .at = file->text};
    int bad_line = ini_parse_stream(feed_line, &feed, take_entry, &feed);
    if (feed.status)
        return feed.status;
    if (bad_line || feed.entries != file->entry_count)
        return fail_at(file, bad_line > 0 ? bad_line : 0, "inih cannot read this line; write KEY = VALUE");
    return STATUS_OK;
}

static enum status load(struct inifile *file)
{
    struct stat about;
    if (stat(file->path, &about) != 0)
        return status_fail(STATUS_INPUT, "%s: cannot read the sweep file: %s", file->path, strerror(errno));
    if (!S_ISREG(about.st_mode) || about.st_size > MAX_BYTES)
        return status_fail(STATUS_INPUT, "%s: cannot read the sweep file: %s", file->path,
            S_ISREG(about.st_mode) ? "it is larger than 1 MiB" : "it is no regular file");
    size_t size = (size_t)about.st_size;
    char *text = arena_array(&file->arena, size + 1, 1);
    if (!text)
        return STATUS_NOMEM;
    FILE *stream = fopen(file->path, "rbe");
    if (!stream)
        return status_fail(STATUS_INPUT, "%s: cannot read the sweep file: %s", file->path, strerror(errno));
    file->size = fread(text, 1, size, stream);
    bool failed = ferror(stream) != 0;
    fclose(stream);
    file->text = text;
    return failed ? status_fail(STATUS_IO, "%s: reading the sweep file failed", file->path) : STATUS_OK;
}

enum status inifile_read(const char *path, struct inifile *out)
{
    *out = (struct inifile){0};
    out->path = copy(out, path, strlen(path));
    if (!out->path)
        return STATUS_NOMEM;
    enum status status = load(out);
    if (!status)
        status = guard(out);
    if (!status)
        status = parse(out);
    return status;
}

void inifile_free(struct inifile *file)
{
    arena_free(&file->arena);
    *file = (struct inifile){0};
}

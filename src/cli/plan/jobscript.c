#include "jobscript.h"

#include "jobscript_text.h" /* JOBSCRIPT_TEXT, made of jobscripts/slurm.sbatch */

#include <string.h>

static const char *const beginnings[JOBSCRIPT_LINE_COUNT] = {
#define X(name, text) text,
    JOBSCRIPT_LINES(X)
#undef X
};

static int find(const char *line)
{
    int found = 0;
    while (found < JOBSCRIPT_LINE_COUNT && strncmp(line, beginnings[found], strlen(beginnings[found])) != 0)
        found++;
    return found;
}

enum status jobscript_write(FILE *out, const char *const lines[JOBSCRIPT_LINE_COUNT])
{
    static const char text[] = JOBSCRIPT_TEXT;
    unsigned seen[JOBSCRIPT_LINE_COUNT + 1] = {0};
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        int found = find(line);
        seen[found]++;
        if (found < JOBSCRIPT_LINE_COUNT && lines[found])
            fprintf(out, "%s\n", lines[found]);
        else
            fprintf(out, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    for (int i = 0; i < JOBSCRIPT_LINE_COUNT; i++)
        if (seen[i] != 1)
            return status_fail(STATUS_INTERNAL, "the job script has %u lines that begin with '%s'", seen[i], beginnings[i]);
    return STATUS_OK;
}

void jobscript_quote(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    putc('\'', out);
}

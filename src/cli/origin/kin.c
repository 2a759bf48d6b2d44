#include "kin.h"

#include "provenance.h"

#include "bnsweep/base/mem.h"

#include <stdio.h>
#include <string.h>

static const struct provenance_row *find_row(const char *name)
{
    size_t count;
    const struct provenance_row *rows = provenance_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Call `same` with each text that the store has under NAME, NAME.1, NAME.2, ...; `*out` is true where all are. `text` receives the
 * first that is not. */
static enum status compare_all(const struct reader *reader, const char *name, bool (*same)(const char *theirs, const char *ours),
                               bool *out, char text[256])
{
    const struct provenance_row *ours = find_row(name);
    char numbered[128];
    *out = true;
    for (int i = 0; *out; i++) {
        char *theirs = NULL;
        snprintf(numbered, sizeof numbered, i ? "%s.%d" : "%s", name, i);
        enum status status = reader_attribute(reader, numbered, &theirs);
        if (status)
            return status == STATUS_CORRUPT ? STATUS_OK : status; /* no more of them */
        *out = same(theirs, ours->text);
        snprintf(text, 256, "%s", theirs);
        mem_free(theirs);
    }
    return STATUS_OK;
}

static bool same_text(const char *theirs, const char *ours)
{
    return strcmp(theirs, ours) == 0;
}

/* "NAME, class of bits: CLASS" */
static const char *class_of(const char *engine)
{
    const char *class = strrchr(engine, ':');
    return class ? class : engine;
}

static bool same_class(const char *theirs, const char *ours)
{
    return strcmp(class_of(theirs), class_of(ours)) == 0;
}

enum status kin_check(const struct reader *reader)
{
    char text[256];
    bool same;
    enum status status = compare_all(reader, "numerics_version", same_text, &same, text);
    if (!status && !same)
        return status_fail(STATUS_INPUT, "the store has units of numerics version %s, this program has version %s", text,
                           find_row("numerics_version")->text);
    if (!status)
        status = compare_all(reader, "engine", same_class, &same, text);
    if (!status && !same)
        status = status_fail(STATUS_INPUT, "the store was made by the engine %s, here it is %s: the bits are not the same", text,
                             find_row("engine")->text);
    return status;
}

enum status kin_same_blas(const struct reader *reader, bool *out)
{
    char text[256];
    return compare_all(reader, "blas", same_text, out, text);
}

/* An INI file read by inih, after a guard has refused all that inih would change or lose without a word. */
#ifndef BNSWEEP_SWEEP_INIFILE_H
#define BNSWEEP_SWEEP_INIFILE_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"

#include <stddef.h>

/* inih 55 as Debian builds it: a longer line arrives as two, a longer section or key name is cut. */
enum { INIFILE_MAX_LINE = 199, INIFILE_MAX_NAME = 49 };

struct inifile_section {
    const char *name;
    int line;
};

struct inifile_entry {
    size_t section; /* index in sections */
    int line;
    const char *key, *value; /* without surrounding blanks and comments; value may be "" */
};

/* Zero-initialise. */
struct inifile {
    const char *path, *text; /* the path as given; the file's bytes and an ending zero */
    size_t size;             /* of text */
    struct inifile_section *sections;
    size_t section_count;
    struct inifile_entry *entries; /* in file order */
    size_t entry_count;
    struct arena arena; /* owns all of the above */
};

/* Read and parse a file. The caller frees `out` with inifile_free also on failure.
 * STATUS_INPUT with "path:line: ..." where the file cannot be read or where inih would not give what is written: a line too long,
 * a name too long, a key or section twice, an indented line, a byte that is not text (NUL, control characters, broken UTF-8), a
 * key before any section, text after a section's bracket, a '#' comment behind a value. STATUS_NOMEM. */
enum status inifile_read(const char *path, struct inifile *out);

void inifile_free(struct inifile *file);

#endif

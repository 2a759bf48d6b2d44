/* A fresh folder for a test's sweep files, and short ways to load them. */
#ifndef BNSWEEP_TESTS_SWEEP_FIXTURE_H
#define BNSWEEP_TESTS_SWEEP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/sweep.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXTURE_PATH = 300 };

static char fixture_folder[64];

static inline int fixture_setup(void **state)
{
    (void)state;
    strcpy(fixture_folder, "/tmp/bnsweep-test-XXXXXX");
    return mkdtemp(fixture_folder) ? 0 : -1;
}

static inline int fixture_teardown(void **state)
{
    (void)state;
    DIR *folder = opendir(fixture_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[FIXTURE_PATH + 80];
        snprintf(path, sizeof path, "%s/%s", fixture_folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    closedir(folder);
    return rmdir(fixture_folder);
}

static inline const char *fixture_path(const char *name)
{
    static char path[FIXTURE_PATH];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    return path;
}

/* Write `size` bytes to a file in the fixture's folder and return its path. */
static inline const char *fixture_bytes(const char *name, const void *bytes, size_t size)
{
    const char *path = fixture_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *fixture_text(const char *name, const char *text)
{
    return fixture_bytes(name, text, strlen(text));
}

/* Load a sweep that must be good. */
static inline void fixture_load(const char *text, struct sweep *out)
{
    enum status status = sweep_load(fixture_text("sweep.ini", text), NULL, 0, out);
    if (status)
        fail_msg("refused: %s", status_message());
}

/* Load a sweep that must be refused with a message that begins with "PATH:" and `start`, and has `part` in it. */
static inline void fixture_refuse(const char *text, const char *start, const char *part)
{
    struct sweep sweep = {0};
    enum status status = sweep_load(fixture_text("sweep.ini", text), NULL, 0, &sweep);
    sweep_free(&sweep);
    char expected[2 * FIXTURE_PATH];
    snprintf(expected, sizeof expected, "%s:%s", fixture_path("sweep.ini"), start);
    if (status != STATUS_INPUT || strncmp(status_message(), expected, strlen(expected)) != 0 || !strstr(status_message(), part))
        fail_msg("status %s: %s\nexpected INPUT: %s ... %s\nof\n%s", status_name(status), status_message(), expected, part, text);
}

/* The least a sweep needs; more lines of [train] may follow. */
#define FIXTURE_HEAD "[sweep]\nname = s\n[train]\nsteps = 6000\noptimizer = adam\nlr = 1e-3\n"

#endif

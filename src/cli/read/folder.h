/* A folder that appears with all its files, or not at all. */
#ifndef BNSWEEP_CLI_FOLDER_H
#define BNSWEEP_CLI_FOLDER_H

#include "bnsweep/base/status.h"

#include <limits.h>
#include <stdio.h>

struct folder {
    char path[PATH_MAX], temporary[PATH_MAX]; /* where it is to be; beside it, while it is filled */
    int lock;                                 /* on the temporary, until the end: others know then that it is no leftover */
};

/* Begin a folder at `path`, which must not exist or be empty; leftovers of earlier ones that were killed are removed. End with folder_keep or folder_drop.
 * STATUS_INPUT (something is there), STATUS_IO. */
enum status folder_begin(const char *path, struct folder *out);

/* Begin a file of that name in it; the caller ends it with folder_close. STATUS_IO. */
enum status folder_open(const struct folder *folder, const char *name, FILE **out);

/* End a file: all of it is on the disk. `status` is what became of writing it; the first failure is returned. STATUS_IO. */
enum status folder_close(const struct folder *folder, const char *name, FILE *file, enum status status);

/* Put the folder in its place. STATUS_INPUT (something has come there), STATUS_IO; then it is dropped. */
enum status folder_keep(struct folder *folder);

/* Remove it and all its files. */
void folder_drop(struct folder *folder);

#endif

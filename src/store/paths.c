#include "paths_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *paths_folder(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(folder, PATH_MAX, ".");
    else
        snprintf(folder, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return slash ? slash + 1 : path;
}

/* Write where the link at `store` points, which nothing is yet; false where it is no link. */
static bool read_link(const char *store, char out[PATH_MAX])
{
    char folder[PATH_MAX], target[PATH_MAX];
    ssize_t size = readlink(store, target, sizeof target - 1);
    if (size <= 0)
        return false;
    target[size] = '\0';
    paths_folder(store, folder);
    int length = target[0] == '/' ? snprintf(out, PATH_MAX, "%s", target) : snprintf(out, PATH_MAX, "%s/%s", folder, target);
    return length < PATH_MAX;
}

/* The path comes last, where a message is cut. */
static enum status fail_too_long(size_t length, const char *path)
{
    return status_fail(STATUS_INPUT, "the store's path is too long: %zu characters, allowed are %d: %s", length,
                       PATH_MAX - PATHS_COMPANION - 1, path);
}

static enum status resolve(const char *store, char out[PATH_MAX])
{
    struct stat info;
    if (realpath(store, out)) {
        if (stat(out, &info) == 0 && !S_ISREG(info.st_mode)) /* a pipe would be waited for */
            return status_fail(STATUS_INPUT, "%s is no file", store);
        return STATUS_OK;
    }
    if (errno != ENOENT)
        return status_fail(STATUS_INPUT, "%s: %s", store, strerror(errno));
    char given[PATH_MAX], folder[PATH_MAX];
    if (read_link(store, given)) /* links in a circle gave another error above */
        return resolve(given, out);
    const char *name = paths_folder(store, given);
    if (!*name)
        return status_fail(STATUS_INPUT, "%s: this is no name for a store", store);
    if (!realpath(given, folder))
        return status_fail(STATUS_INPUT, "%s: the store's folder %s cannot be reached: %s; make it, or give another with -o", store,
                           given, strerror(errno));
    if (snprintf(out, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name) >= PATH_MAX)
        return fail_too_long(strlen(folder) + 1 + strlen(name), store);
    return STATUS_OK;
}

enum status paths_resolve(const char *store, char out[PATH_MAX])
{
    if (strlen(store) >= PATH_MAX)
        return fail_too_long(strlen(store), store);
    enum status status = resolve(store, out);
    if (!status && strlen(out) + PATHS_COMPANION >= PATH_MAX)
        status = fail_too_long(strlen(out), store);
    return status;
}

enum status paths_beside(const char *store, const char *suffix, char out[PATH_MAX])
{
    if (snprintf(out, PATH_MAX, "%s%s", store, suffix) >= PATH_MAX)
        return fail_too_long(strlen(store), store);
    return STATUS_OK;
}

enum status paths_check_absent(const char *store)
{
    char journal[PATH_MAX];
    enum status status = paths_beside(store, ".journal", journal);
    if (!status && access(journal, F_OK) == 0)
        status = status_fail(STATUS_INPUT, "%s is missing, but its journal %s is there; put the store back, or move the journal away",
                             store, journal);
    return status;
}

#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status refuse(const char *path)
{
    return status_fail(STATUS_INPUT, "'%s' is there and not an empty folder; name another, or remove it first", path);
}

/* Whether nothing, or an empty folder, is at `path`. */
static bool is_free(const char *path)
{
    DIR *folder = opendir(path);
    bool empty = true;
    if (!folder)
        return errno == ENOENT;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            empty = false;
    closedir(folder);
    return empty;
}

enum status folder_begin(const char *path, struct folder *out)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (!length || snprintf(out->path, sizeof out->path, "%.*s", (int)length, path) >= (int)sizeof out->path - 16)
        return status_fail(STATUS_INPUT, "'%.100s' cannot be a folder's name", path);
    if (!is_free(out->path))
        return refuse(out->path);
    snprintf(out->temporary, sizeof out->temporary, "%.*s.part-XXXXXX", (int)sizeof out->path - 16, out->path);
    if (!mkdtemp(out->temporary))
        return status_fail(STATUS_IO, "could not make the folder '%s': %s", out->temporary, strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    if (chmod(out->temporary, 0777 & ~mask) == 0)
        return STATUS_OK;
    enum status status = status_fail(STATUS_IO, "could not open up the folder '%s': %s", out->temporary, strerror(errno));
    folder_drop(out);
    return status;
}

enum status folder_open(const struct folder *folder, const char *name, FILE **out)
{
    char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", folder->temporary, name);
    *out = fopen(path, "we");
    return *out ? STATUS_OK : status_fail(STATUS_IO, "could not make '%s': %s", path, strerror(errno));
}

enum status folder_close(const struct folder *folder, const char *name, FILE *file, enum status status)
{
    bool written = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
    int error = errno;
    if (fclose(file) != 0 || !written)
        return status ? status : status_fail(STATUS_IO, "could not write '%s/%s': %s", folder->temporary, name, strerror(error));
    return status;
}

enum status folder_keep(struct folder *folder)
{
    if (rename(folder->temporary, folder->path) == 0)
        return STATUS_OK;
    enum status status = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
                             ? refuse(folder->path)
                             : status_fail(STATUS_IO, "could not rename '%s' to '%s': %s", folder->temporary, folder->path,
                                           strerror(errno));
    folder_drop(folder);
    return status;
}

void folder_drop(struct folder *folder)
{
    DIR *open = opendir(folder->temporary);
    for (const struct dirent *entry; open && (entry = readdir(open));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(open), entry->d_name, 0);
    if (open)
        closedir(open);
    rmdir(folder->temporary);
}

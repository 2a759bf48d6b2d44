#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that is being filled is called PATH.part-XXXXXX. */
#define MARK ".part-"
#define RANDOM "XXXXXX"
enum { TRIES = 3 };

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

static void remove_files(int folder)
{
    DIR *listing = fdopendir(dup(folder));
    for (const struct dirent *entry; listing && (entry = readdir(listing));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(folder, entry->d_name, 0);
    if (listing)
        closedir(listing);
}

/* Remove what was left beside it by who was killed while filling it: who fills one has it locked. */
static void remove_leftovers(const char *path)
{
    char parent[PATH_MAX], start[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    snprintf(start, sizeof start, "%s" MARK, slash ? slash + 1 : path);
    if (slash)
        slash[slash == parent] = '\0';
    DIR *listing = opendir(slash ? parent : ".");
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        if (strncmp(entry->d_name, start, strlen(start)) != 0 || strlen(entry->d_name) != strlen(start) + strlen(RANDOM))
            continue;
        int fd = openat(dirfd(listing), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            remove_files(fd);
            unlinkat(dirfd(listing), entry->d_name, AT_REMOVEDIR);
        }
        if (fd >= 0)
            close(fd);
    }
    if (listing)
        closedir(listing);
}

/* Make the temporary folder, locked. Another process may see a new one as a leftover before it is. */
static enum status make_temporary(struct folder *folder)
{
    for (int try = 0; try < TRIES; try++) {
        snprintf(folder->temporary, sizeof folder->temporary, "%.*s" MARK RANDOM, (int)sizeof folder->path - 16, folder->path);
        if (!mkdtemp(folder->temporary))
            break;
        folder->lock = open(folder->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder->lock < 0)
            continue;
        struct stat made;
        flock(folder->lock, LOCK_EX); /* where there are no locks, there are no leftovers found either */
        if (fstat(folder->lock, &made) == 0 && made.st_nlink > 0)
            return STATUS_OK;
        close(folder->lock);
    }
    return status_fail(STATUS_IO, "could not make the folder '%s': %s", folder->temporary, strerror(errno));
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
    remove_leftovers(out->path);
    enum status status = make_temporary(out);
    if (status)
        return status;
    mode_t mask = umask(0);
    umask(mask);
    if (chmod(out->temporary, 0777 & ~mask) == 0)
        return STATUS_OK;
    status = status_fail(STATUS_IO, "could not open up the folder '%s': %s", out->temporary, strerror(errno));
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
    if (rename(folder->temporary, folder->path) == 0) {
        close(folder->lock);
        return STATUS_OK;
    }
    enum status status = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
                             ? refuse(folder->path)
                             : status_fail(STATUS_IO, "could not rename '%s' to '%s': %s", folder->temporary, folder->path,
                                           strerror(errno));
    folder_drop(folder);
    return status;
}

void folder_drop(struct folder *folder)
{
    remove_files(folder->lock);
    rmdir(folder->temporary);
    close(folder->lock);
}

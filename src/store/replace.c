#include "replace_internal.h"

#include "bnsweep/base/mem.h"
#include "paths_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BUFFER = 1 << 20 };

static enum status fail(const char *action, const char *path)
{
    return status_fail(STATUS_IO, "cannot %s %s: %s", action, path, strerror(errno));
}

enum status replace_begin(const char *target, struct replace *out)
{
    char suffix[32];
    out->fd = -1;
    out->renamed = false;
    snprintf(suffix, sizeof suffix, ".publish.%ld", (long)getpid());
    snprintf(out->target, sizeof out->target, "%s", target);
    enum status status = paths_beside(target, suffix, out->temporary);
    if (status)
        return status;
    out->fd = open(out->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return out->fd < 0 ? fail("create", out->temporary) : STATUS_OK;
}

static enum status copy_by_hand(struct replace *replace, int source)
{
    char *buffer = mem_array(COPY_BUFFER, 1);
    if (!buffer)
        return STATUS_NOMEM;
    enum status status = STATUS_OK;
    ssize_t got;
    while (!status && (got = read(source, buffer, COPY_BUFFER)) != 0) {
        if (got < 0 && errno != EINTR)
            status = fail("read", replace->target);
        for (ssize_t at = 0, put; !status && at < got; at += put) {
            put = write(replace->fd, buffer + at, (size_t)(got - at));
            if (put < 0 && errno != EINTR)
                status = fail("write", replace->temporary);
            put = put < 0 ? 0 : put;
        }
    }
    mem_free(buffer);
    return status;
}

/* The kernel's copy shares blocks where the file system can; both files' offsets advance, so the rest may be copied by hand. */
static enum status copy_contents(struct replace *replace, int source)
{
    ssize_t copied;
    do
        copied = copy_file_range(source, NULL, replace->fd, NULL, 1 << 30, 0);
    while (copied > 0 || (copied < 0 && errno == EINTR));
    if (copied < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
        return fail("write", replace->temporary);
    return copy_by_hand(replace, source);
}

enum status replace_copy(struct replace *replace)
{
    struct stat old, new;
    int source = open(replace->target, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return fail("read", replace->target);
    enum status status = fstat(source, &old) ? fail("read", replace->target) : copy_contents(replace, source);
    close(source);
    if (!status && (fstat(replace->fd, &new) || new.st_size != old.st_size))
        status = status_fail(STATUS_IO, "%s: the copy in %s came out short", replace->target, replace->temporary);
    if (!status && fchmod(replace->fd, old.st_mode & 07777))
        status = fail("set the permissions of", replace->temporary);
    return status;
}

enum status replace_reserve(struct replace *replace, uint64_t bytes)
{
    struct stat now;
    if (fstat(replace->fd, &now))
        return fail("read", replace->temporary);
    if (fallocate(replace->fd, FALLOC_FL_KEEP_SIZE, now.st_size, (off_t)bytes) && (errno == ENOSPC || errno == EDQUOT))
        return status_fail(STATUS_IO, "cannot set aside %llu bytes for %s: %s", (unsigned long long)bytes,
                           replace->temporary, strerror(errno));
    return STATUS_OK; /* a file system that cannot reserve is no failure */
}

enum status replace_sync_folder(const char *path)
{
    char folder[PATH_MAX];
    paths_folder(path, folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail("open the folder", folder);
    enum status status = STATUS_OK;
    if (fsync(fd) && errno != EINVAL) /* EINVAL: this file system keeps folders safe by itself */
        status = fail("sync the folder", folder);
    close(fd);
    return status;
}

enum status replace_commit(struct replace *replace)
{
    struct stat now;
    enum status status = STATUS_OK;
    /* Cutting at the present size gives back what was reserved and not used. */
    if (fstat(replace->fd, &now) || ftruncate(replace->fd, now.st_size) || fsync(replace->fd))
        status = fail("sync", replace->temporary);
    else if (rename(replace->temporary, replace->target))
        status = fail("put the new file in the place of", replace->target);
    if (status) {
        replace_abort(replace);
        return status;
    }
    replace->renamed = true;
    close(replace->fd);
    replace->fd = -1;
    return status_context(replace_sync_folder(replace->target), "%s was replaced, but", replace->target);
}

void replace_abort(struct replace *replace)
{
    if (replace->fd < 0)
        return;
    close(replace->fd);
    unlink(replace->temporary);
    replace->fd = -1;
}

void replace_clean(const char *target)
{
    char folder[PATH_MAX], prefix[PATH_MAX];
    const char *name = paths_folder(target, folder);
    snprintf(prefix, sizeof prefix, "%s.publish.", name);
    DIR *listing = opendir(folder);
    if (!listing)
        return;
    for (struct dirent *entry; (entry = readdir(listing));) {
        const char *digits = entry->d_name + strlen(prefix);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && *digits && strspn(digits, "0123456789") == strlen(digits))
            unlinkat(dirfd(listing), entry->d_name, 0);
    }
    closedir(listing);
}

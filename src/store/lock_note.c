#include "bnsweep/store/lock_note.h"

#include "paths_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Whether a line of /proc/locks, "1: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF", is about the file. Some file systems show another
 * device there than stat does: then the process must be the one that wrote the note. */
static bool is_about(const char *line, const struct stat *file, long noted)
{
    long process;
    unsigned high, low;
    unsigned long inode;
    if (sscanf(line, "%*[^:]: %*s %*s %*s %ld %x:%x:%lu", &process, &high, &low, &inode) != 4 || inode != (unsigned long)file->st_ino)
        return false;
    return (high == major(file->st_dev) && low == minor(file->st_dev)) || process == noted;
}

static enum lock_state find_holder(const struct stat *file, long noted)
{
    char line[256];
    bool held = false;
    FILE *locks = fopen("/proc/locks", "re");
    if (!locks)
        return LOCK_UNKNOWN;
    while (!held && fgets(line, sizeof line, locks))
        held = is_about(line, file, noted);
    fclose(locks);
    return held ? LOCK_HELD : LOCK_FREE;
}

static bool from_this_host(const char *note)
{
    char host[256] = "", start[sizeof host + 8];
    gethostname(host, sizeof host - 1);
    snprintf(start, sizeof start, "host %s,", host);
    return strncmp(note, start, strlen(start)) == 0;
}

enum status lock_note_read(const char *path, struct lock_note *out)
{
    char store[PATH_MAX], lock[PATH_MAX];
    struct stat about;
    *out = (struct lock_note){.state = LOCK_FREE};
    enum status status = paths_resolve(path, store);
    if (!status)
        status = paths_beside(store, ".lock", lock);
    if (status)
        return status;
    FILE *file = fopen(lock, "re");
    if (!file && errno == ENOENT)
        return STATUS_OK;
    if (!file || fstat(fileno(file), &about) != 0) {
        status = status_fail(STATUS_IO, "cannot read %s: %s", lock, strerror(errno));
    } else {
        size_t size = fread(out->text, 1, sizeof out->text - 1, file);
        out->text[size] = '\0';
        out->text[strcspn(out->text, "\n")] = '\0';
        const char *process = strstr(out->text, "process ");
        out->state = find_holder(&about, process ? strtol(process + strlen("process "), NULL, 10) : -1);
        if (out->state == LOCK_FREE && *out->text && !from_this_host(out->text))
            out->state = LOCK_UNKNOWN;
    }
    if (file)
        fclose(file);
    return status;
}

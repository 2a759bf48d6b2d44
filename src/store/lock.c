#include "bnsweep/store/lock.h"

#include "paths_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NOTE_SIZE = 512, LEFTOVER_MILLISECONDS = 30000, NOTE_MILLISECONDS = 1000 };

static bool is_inherited(const char *path)
{
    struct stat file, descriptor;
    return fstat(LOCK_INHERITED_FD, &descriptor) == 0 && stat(path, &file) == 0 && file.st_dev == descriptor.st_dev &&
           file.st_ino == descriptor.st_ino && flock(LOCK_INHERITED_FD, LOCK_EX | LOCK_NB) == 0;
}

static void write_note(int fd)
{
    char note[NOTE_SIZE], host[256] = "", when[32];
    struct tm utc;
    time_t now = time(NULL);
    const char *job = getenv("SLURM_JOB_ID");
    gethostname(host, sizeof host - 1);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    int size = snprintf(note, sizeof note, "host %s, process %ld%s%s, since %s\n", host, (long)getpid(),
                        job ? ", job " : "", job ? job : "", when);
    /* The note is a help only: that it could not be written is no reason not to work. */
    if (ftruncate(fd, 0) == 0 && pwrite(fd, note, (size_t)size, 0) != size)
        (void)!ftruncate(fd, 0);
}

static void read_note(int fd, char note[NOTE_SIZE])
{
    ssize_t size = pread(fd, note, NOTE_SIZE - 1, 0);
    note[size > 0 ? size : 0] = '\0';
    note[strcspn(note, "\n")] = '\0';
}

/* Whether the run that wrote the note was killed on this machine: what holds its lock is its publishing child, which is about to end. */
static bool is_leftover(int fd)
{
    char note[NOTE_SIZE], host[256] = "", holder[256] = "";
    long process = 0;
    read_note(fd, note);
    gethostname(host, sizeof host - 1);
    return sscanf(note, "host %255[^,], process %ld", holder, &process) == 2 && strcmp(host, holder) == 0 && process > 0 &&
           kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static void pause_a_millisecond(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The holder may just have begun, and not yet have written its note. */
static enum status fail_taken(int fd, const char *store)
{
    char note[NOTE_SIZE];
    read_note(fd, note);
    for (int i = 0; !*note && i < NOTE_MILLISECONDS; i++) {
        pause_a_millisecond();
        read_note(fd, note);
    }
    return status_fail(STATUS_LOCKED, "%s is being written by another run (%s); wait for it or stop it", store,
                       *note ? note : "which left no note");
}

/* Lock without waiting, but for a leftover; return 0 or what errno was. */
static int lock_file(int fd)
{
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        int error = errno;
        if (error != EWOULDBLOCK || i >= LEFTOVER_MILLISECONDS || !is_leftover(fd))
            return error;
        pause_a_millisecond();
    }
    return 0;
}

/* Open and lock `path`; STATUS_LOCKED where another holds it. */
static enum status take_file(const char *path, const char *store, int *out)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return status_fail(errno == EACCES ? STATUS_INPUT : STATUS_IO, "cannot open the lock %s: %s", path,
                           strerror(errno));
    int error = lock_file(fd);
    if (error) {
        enum status status = error == EWOULDBLOCK ? fail_taken(fd, store)
                                                  : status_fail(STATUS_IO, "cannot lock %s: %s", path, strerror(error));
        close(fd);
        return status;
    }
    *out = fd;
    return STATUS_OK;
}

/* Whether the locked file is still the one of that name: its last holder may have removed it meanwhile. */
static bool is_named(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

enum status lock_take(const char *store, struct lock *out)
{
    *out = (struct lock){.fd = -1};
    enum status status = paths_beside(store, ".lock", out->path);
    if (status)
        return status;
    if (is_inherited(out->path)) {
        out->fd = LOCK_INHERITED_FD;
        return STATUS_OK;
    }
    for (;;) {
        int fd = -1;
        status = take_file(out->path, store, &fd);
        if (status)
            return status;
        if (is_named(fd, out->path)) {
            write_note(fd);
            out->fd = fd;
            return STATUS_OK;
        }
        close(fd);
    }
}

void lock_release(struct lock *lock)
{
    if (lock->fd >= 0 && lock->fd != LOCK_INHERITED_FD)
        unlink(lock->path);
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

/* To be preloaded: ends the process, or makes a call fail, at the k-th call that changes what is on disk below a folder.
 * Calls are counted over all processes of a run in the file CRASH_COUNTER (struct crash_counter, made by the test).
 * CRASH_BELOW: real path of the folder. CRASH_AT: k, from 1; CRASH_ONLY: the one call that k counts (default: all). CRASH_HOW:
 * "before", "half" (of the bytes; as "before" where there are none) or "after": kill -9 then; or the number of an error, which
 * CRASH_FOR calls from there on then give (0: all). */
#include "crash_counter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct crash_counter *counter;
static const char *below, *how;
static uint32_t at, span;
static enum crash_call only = CRASH_CALL_COUNT;

static void *real(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol)
        abort();
    return symbol;
}

static enum crash_call find_call(const char *wanted)
{
    static const char *const names[] = {
#define X(name) #name,
        CRASH_CALLS(X)
#undef X
    };
    for (size_t i = 0; wanted && i < sizeof names / sizeof *names; i++)
        if (!strcmp(wanted, names[i]))
            return (enum crash_call)i;
    return CRASH_CALL_COUNT;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CRASH_COUNTER"), *first = getenv("CRASH_AT"), *count = getenv("CRASH_FOR");
    below = getenv("CRASH_BELOW");
    how = getenv("CRASH_HOW");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0 || !below || !how)
        return;
    void *map = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    counter = map == MAP_FAILED ? NULL : map;
    at = first ? (uint32_t)atoi(first) : 0;
    span = count ? (uint32_t)atoi(count) : 0;
    only = find_call(getenv("CRASH_ONLY"));
}

static bool is_below(const char *path)
{
    size_t length = strlen(below);
    return strncmp(path, below, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_ours(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size > 0 ? size : 0] = 0;
    return is_below(path);
}

static void end(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Count a call; return whether it is the one, and end the process where that is to be before it. */
static bool meet(enum crash_call call)
{
    uint32_t number = __atomic_add_fetch(&counter->calls, 1, __ATOMIC_SEQ_CST);
    uint32_t of_kind = __atomic_add_fetch(&counter->kinds[call], 1, __ATOMIC_SEQ_CST);
    if (only != CRASH_CALL_COUNT)
        number = only == call ? of_kind : 0;
    if (!at || number < at)
        return false;
    if (*how >= '0' && *how <= '9') {
        errno = atoi(how);
        return !span || number < at + span;
    }
    if (number != at)
        return false;
    counter->met = call + 1;
    if (!strcmp(how, "before"))
        end();
    return true;
}

static bool fails(void)
{
    return *how >= '0' && *how <= '9';
}

#define ON(call, ours, result, do_half, do_all)       \
    int kept = errno;                                 \
    if (!counter || !(ours) || !meet(CRASH_##call)) { \
        errno = kept;                                 \
        return do_all;                                \
    }                                                 \
    if (fails())                                      \
        return -1;                                    \
    if (!strcmp(how, "half")) {                       \
        do_half;                                      \
        end();                                        \
    }                                                 \
    result done = do_all;                             \
    end();                                            \
    return done;

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t (*call)(int, const void *, size_t) = real("write");
    ON(write, is_ours(fd), ssize_t, (void)!call(fd, bytes, size / 2), call(fd, bytes, size))
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*call)(int, const void *, size_t, off_t) = real("pwrite");
    ON(pwrite, is_ours(fd), ssize_t, (void)!call(fd, bytes, size / 2, offset), call(fd, bytes, size, offset))
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    ssize_t (*call)(int, const void *, size_t, off64_t) = real("pwrite64");
    ON(pwrite, is_ours(fd), ssize_t, (void)!call(fd, bytes, size / 2, offset), call(fd, bytes, size, offset))
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags)
{
    ssize_t (*call)(int, off64_t *, int, off64_t *, size_t, unsigned) = real("copy_file_range");
    ON(copy_file_range, is_ours(to), ssize_t, (void)!call(from, from_at, to, to_at, 1024, flags),
       call(from, from_at, to, to_at, size, flags))
}

int rename(const char *from, const char *to)
{
    int (*call)(const char *, const char *) = real("rename");
    ON(rename, is_below(to), int, (void)0, call(from, to))
}

int unlink(const char *path)
{
    int (*call)(const char *) = real("unlink");
    ON(unlink, is_below(path), int, (void)0, call(path))
}

int ftruncate(int fd, off_t size)
{
    int (*call)(int, off_t) = real("ftruncate");
    ON(ftruncate, is_ours(fd), int, (void)0, call(fd, size))
}

int ftruncate64(int fd, off64_t size)
{
    int (*call)(int, off64_t) = real("ftruncate64");
    ON(ftruncate, is_ours(fd), int, (void)0, call(fd, size))
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    int (*call)(int, int, off_t, off_t) = real("fallocate");
    ON(fallocate, is_ours(fd), int, (void)0, call(fd, mode, offset, size))
}

int fsync(int fd)
{
    int (*call)(int) = real("fsync");
    ON(fsync, is_ours(fd), int, (void)0, call(fd))
}

int fdatasync(int fd)
{
    int (*call)(int) = real("fdatasync");
    ON(fdatasync, is_ours(fd), int, (void)0, call(fd))
}

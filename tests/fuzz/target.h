/* A fuzz target: one function in the form that libFuzzer calls. With replay.c instead of libFuzzer the same target is a regression
 * test that reads its corpus. */
#ifndef BNSWEEP_TESTS_FUZZ_TARGET_H
#define BNSWEEP_TESTS_FUZZ_TARGET_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char target_folder[256], target_path[300];

static inline void target_remove(void)
{
    char beside[340];
    snprintf(beside, sizeof beside, "%s.journal", target_path);
    unlink(beside);
    unlink(target_path);
    rmdir(target_folder);
}

/* Put the bytes into a file of this process, in TMPDIR; return its path. The same file each time. */
static inline const char *target_file(const uint8_t *bytes, size_t size, const char *suffix)
{
    static char path[340];
    if (!target_folder[0]) {
        const char *temporary = getenv("TMPDIR");
        snprintf(target_folder, sizeof target_folder, "%s/bnsweep-fuzz-XXXXXX", temporary ? temporary : "/tmp");
        if (!mkdtemp(target_folder))
            abort();
        snprintf(target_path, sizeof target_path, "%s/input", target_folder);
        atexit(target_remove);
    }
    snprintf(path, sizeof path, "%s%s", target_path, suffix);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
    return path;
}

/* A copy that may be changed; free. */
static inline uint8_t *target_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

#endif

#include "bnsweep/run/state.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/base/pack.h"
#include "bnsweep/base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, NUMBERS_SIZE = 48 /* from the step to weights_init, see pack_state */, CHECKSUM_SIZE = 8 };
static const char magic[8] = "BNSWSTAT";

/* One array of the state. */
typedef void visit_array(void *context, void *data, size_t bytes);

/* Visit every array that changes while training, always in the same order. */
static void visit_arrays(const struct trajectory *t, visit_array *visit, void *context)
{
    size_t params = t->net.size * sizeof(real), channels = t->net.channels * sizeof(real);
    size_t cosines = t->window.length * t->net.channels * sizeof(double);
    visit(context, t->weights, params);
    visit(context, t->optim.first, params);
    if (t->optim.second)
        visit(context, t->optim.second, params);
    for (size_t m = 0; m < t->config.momenta_count; m++) {
        visit(context, t->running[m].mean, channels);
        visit(context, t->running[m].var, channels);
    }
    for (size_t e = 0; e < t->extent.emas; e++) {
        visit(context, t->averages[e].weights, params);
        for (size_t m = 0; m < t->config.momenta_count; m++) {
            visit(context, t->averages[e].running[m].mean, channels);
            visit(context, t->averages[e].running[m].var, channels);
        }
    }
    visit(context, t->window.loss, t->window.length * sizeof(double));
    visit(context, t->window.cos_update, cosines);
    visit(context, t->window.cos_grad, cosines);
    visit(context, t->window.snapshots, t->window.slots * t->window.conv_size * sizeof(real));
    visit(context, t->norm_init, t->net.channels * sizeof(double));
}

static void count_bytes(void *context, void *data, size_t bytes)
{
    (void)data;
    *(size_t *)context += bytes;
}

static void pack_array(void *context, void *data, size_t bytes)
{
    pack_bytes(context, data, bytes);
}

static void unpack_array(void *context, void *data, size_t bytes)
{
    const uint8_t *from = unpack_bytes(context, bytes);
    if (from)
        memcpy(data, from, bytes);
}

static enum status pack_state(const struct trajectory *t, struct hash key, struct pack *pack)
{
    size_t arrays = 0;
    visit_arrays(t, count_bytes, &arrays);
    pack_bytes(pack, magic, sizeof magic);
    pack_u32(pack, VERSION);
    pack_u32(pack, sizeof(real));
    pack_hash(pack, key);
    pack_u64(pack, arrays);
    pack_u64(pack, t->step);
    pack_u64(pack, t->optim.step);
    pack_f64(pack, t->optim.rate);
    pack_f64(pack, t->seconds);
    pack_hash(pack, t->weights_init);
    visit_arrays(t, pack_array, pack);
    pack_u64(pack, hash_checksum(pack->data, pack->size, 0));
    return pack->failed ? STATUS_NOMEM : STATUS_OK;
}

static enum status io_error(const char *what, const char *path)
{
    return status_fail(STATUS_IO, "could not %s the state '%s': %s", what, path, strerror(errno));
}

static enum status write_all(int file, const uint8_t *data, size_t size, const char *path)
{
    while (size) {
        ssize_t written = write(file, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return io_error("write", path);
        data += written;
        size -= (size_t)written;
    }
    return fsync(file) ? io_error("write", path) : STATUS_OK;
}

/* Make the rename last: a directory entry is only safe once its directory is. */
static enum status sync_folder(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return io_error("sync the folder of", path);
    int failed = fsync(folder);
    close(folder);
    return failed ? io_error("sync the folder of", path) : STATUS_OK;
}

static enum status temporary_of(const char *path, char out[PATH_MAX])
{
    if (snprintf(out, PATH_MAX, "%s.new", path) >= PATH_MAX)
        return status_fail(STATUS_IO, "the path of a state is too long: '%s'", path);
    return STATUS_OK;
}

enum status state_prepare(const struct trajectory *trajectory, const char *path, struct hash key)
{
    char temporary[PATH_MAX];
    struct pack pack = {0};
    enum status status = temporary_of(path, temporary);
    if (!status)
        status = pack_state(trajectory, key, &pack);
    int file = status ? -1 : open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!status && file < 0)
        status = io_error("write", temporary);
    if (!status)
        status = write_all(file, pack.data, pack.size, temporary);
    if (file >= 0 && close(file) && !status)
        status = io_error("write", temporary);
    if (status && file >= 0)
        unlink(temporary);
    pack_free(&pack);
    return status;
}

enum status state_publish(const char *path)
{
    char temporary[PATH_MAX];
    enum status status = temporary_of(path, temporary);
    if (!status && rename(temporary, path)) {
        status = io_error("rename", temporary);
        unlink(temporary);
    }
    return status ? status : sync_folder(path);
}

enum status state_save(const struct trajectory *trajectory, const char *path, struct hash key)
{
    enum status status = state_prepare(trajectory, path, key);
    return status ? status : state_publish(path);
}

void state_remove(const char *path)
{
    char temporary[PATH_MAX];
    unlink(path);
    if (!temporary_of(path, temporary))
        unlink(temporary);
}

static enum status fail_foreign(const char *path)
{
    return status_fail(STATUS_CORRUPT, "'%s' is not a state of a trajectory", path);
}

/* A pipe would be waited for, and something else might be of any size. */
static enum status look_at_file(int file, const char *path, size_t *size)
{
    struct stat info;
    char head[sizeof magic];
    *size = 0;
    if (fstat(file, &info))
        return io_error("read", path);
    if (!S_ISREG(info.st_mode))
        return fail_foreign(path);
    ssize_t got = pread(file, head, sizeof head, 0);
    if (got < 0)
        return io_error("read", path);
    if (got != sizeof head || memcmp(head, magic, sizeof head) != 0)
        return fail_foreign(path);
    *size = (size_t)info.st_size;
    return STATUS_OK;
}

static enum status read_file(const char *path, uint8_t **data, size_t *size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return io_error("read", path);
    enum status status = look_at_file(file, path, size);
    *data = status ? NULL : mem_array(*size, 1);
    if (!status && !*data)
        status = STATUS_NOMEM;
    for (size_t at = 0; !status && at < *size;) {
        ssize_t got = read(file, *data + at, *size - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = io_error("read", path);
        else if (got == 0)
            *size = at; /* it became shorter; the checksum will tell */
        else
            at += (size_t)got;
    }
    close(file);
    return status;
}

/* Check the whole file, whose magic was seen, and leave `unpack` behind the key, before the size of the arrays. */
static enum status check_file(const char *path, struct hash key, struct unpack *unpack)
{
    if (!unpack_bytes(unpack, sizeof magic) || unpack->size < CHECKSUM_SIZE)
        return fail_foreign(path);
    struct unpack tail = {.data = unpack->data, .size = unpack->size, .at = unpack->size - CHECKSUM_SIZE};
    if (unpack_u64(&tail) != hash_checksum(unpack->data, unpack->size - CHECKSUM_SIZE, 0))
        return status_fail(STATUS_CORRUPT, "the state '%s' is damaged: its checksum is wrong", path);
    uint32_t version = unpack_u32(unpack), real_size = unpack_u32(unpack);
    if (version != VERSION || real_size != sizeof(real))
        return status_fail(STATUS_VERSION, "the state '%s' has version %u and %u-byte numbers, this program %d and %zu", path,
                           version, real_size, VERSION, sizeof(real));
    if (!hash_equal(unpack_hash(unpack), key))
        return status_fail(STATUS_VERSION, "the state '%s' belongs to another trajectory", path);
    return STATUS_OK;
}

/* Check the whole file and leave `unpack` at the step. */
static enum status check_header(const struct trajectory *t, const char *path, struct hash key, struct unpack *unpack)
{
    enum status status = check_file(path, key, unpack);
    if (status)
        return status;
    size_t arrays = 0;
    visit_arrays(t, count_bytes, &arrays);
    if (unpack_u64(unpack) != arrays)
        return status_fail(STATUS_VERSION, "the state '%s' belongs to another trajectory", path);
    if (unpack->size - unpack->at != NUMBERS_SIZE + arrays + CHECKSUM_SIZE)
        return status_fail(STATUS_CORRUPT, "the state '%s' is damaged: %zu bytes are left for %zu", path, unpack->size - unpack->at,
                           NUMBERS_SIZE + arrays + CHECKSUM_SIZE);
    return STATUS_OK;
}

enum status state_load(struct trajectory *trajectory, const char *path, struct hash key)
{
    uint8_t *data = NULL;
    size_t size = 0;
    enum status status = read_file(path, &data, &size);
    struct unpack unpack = {.data = data, .size = size};
    if (!status)
        status = check_header(trajectory, path, key, &unpack);
    if (!status) {
        trajectory->step = unpack_u64(&unpack);
        trajectory->optim.step = unpack_u64(&unpack);
        trajectory->optim.rate = unpack_f64(&unpack);
        trajectory->seconds = unpack_f64(&unpack);
        trajectory->weights_init = unpack_hash(&unpack);
        visit_arrays(trajectory, unpack_array, &unpack);
    }
    mem_free(data);
    return status;
}

enum status state_peek(const char *path, struct hash key, uint64_t *step)
{
    uint8_t *data = NULL;
    size_t size = 0;
    enum status status = read_file(path, &data, &size);
    struct unpack unpack = {.data = data, .size = size};
    if (!status)
        status = check_file(path, key, &unpack);
    if (!status) {
        unpack_u64(&unpack);
        *step = unpack_u64(&unpack);
        if (unpack.failed)
            status = status_fail(STATUS_CORRUPT, "the state '%s' is damaged: it ends before its step", path);
    }
    mem_free(data);
    return status;
}

#include "bnsweep/sweep/identity.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 }; /* bytes hashed at a time: part of a file's hash, never change it */

/* A million units have identities, and formatted printing is slow. */
static size_t append(char out[SETTINGS_TEXT_SIZE], size_t used, const char *text)
{
    size_t room = SETTINGS_TEXT_SIZE - 1 - used, length = strlen(text), taken = length < room ? length : room;
    memcpy(out + used, text, taken);
    out[used + taken] = '\0';
    return used + taken;
}

void identity_text(const struct settings *settings, char out[SETTINGS_TEXT_SIZE])
{
    const uint32_t held = settings_conditions(settings);
    char value[SETTINGS_VALUE_SIZE];
    number_format_int(IDENTITY_NUMERICS_VERSION, value);
    size_t used = append(out, 0, "numerics = ");
    used = append(out, used, value);
    used = append(out, used, "\n");
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        const struct setting *setting = &settings_table[key];
        if (!setting->numbers || !(held >> setting->condition & 1) || settings_is_default(settings, key))
            continue;
        settings_text_format(settings, key, value);
        used = append(out, used, setting->key);
        used = append(out, used, " = ");
        used = append(out, used, value);
        used = append(out, used, "\n");
    }
}

struct hash identity_of(const struct settings *settings)
{
    char text[SETTINGS_TEXT_SIZE];
    identity_text(settings, text);
    return hash_bytes(text, strlen(text));
}

bool identity_fusable(const struct settings *settings)
{
    bool held = settings_relevant(settings, SETTING_freeze_stats) && settings->freeze_stats == FREEZE_STATS_HELD;
    return settings->norm == NORM_BATCH && !held;
}

struct hash identity_trajectory(const struct settings *settings)
{
    if (!identity_fusable(settings))
        return identity_of(settings);
    /* Keeps a shared trajectory apart from the unit with the default momentum. */
    static const struct hash mark = {0x66757365, 0x64};
    struct settings shared = *settings, plain;
    settings_defaults(&plain);
    settings_copy(&shared, &plain, SETTING_bn_momentum);
    return hash_combine(mark, identity_of(&shared));
}

static enum status hash_descriptor(int descriptor, const char *path, struct hash *out)
{
    char *chunk = mem_array(CHUNK, 1);
    if (!chunk)
        return STATUS_NOMEM;
    struct hash hash = {0, 0};
    enum status status = STATUS_OK;
    for (size_t filled = 0;;) {
        ssize_t got = read(descriptor, chunk + filled, CHUNK - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = status_fail(STATUS_IO, "reading '%s' failed: %s", path, strerror(errno));
            break;
        }
        filled += (size_t)got;
        if (got > 0 && filled < CHUNK)
            continue;
        hash = hash_combine(hash, hash_bytes(chunk, filled));
        filled = 0;
        if (got == 0)
            break;
    }
    mem_free(chunk);
    *out = hash;
    return status;
}

enum status identity_file(const char *path, char out[HASH_HEX_SIZE])
{
    struct stat about;
    if (stat(path, &about) != 0)
        return status_fail(STATUS_INPUT, "cannot read the file '%s': %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return status_fail(STATUS_INPUT, "cannot read the file '%s': it is no regular file", path);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return status_fail(STATUS_INPUT, "cannot read the file '%s': %s", path, strerror(errno));
    struct hash hash;
    enum status status = hash_descriptor(descriptor, path, &hash);
    close(descriptor);
    if (!status)
        hash_hex(hash, out);
    return status;
}

static enum status verify_file(const char *path, const char *expected)
{
    char found[HASH_HEX_SIZE];
    enum status status = identity_file(path, found);
    if (!status && strcmp(found, expected) != 0)
        status = status_fail(
            STATUS_INPUT, "the file '%s' has changed since the sweep was read: its hash is %s, it was %s", path, found, expected);
    return status;
}

enum status identity_verify_files(const struct settings *settings)
{
    enum status status = STATUS_OK;
    if (settings_relevant(settings, SETTING_file_hash))
        status = verify_file(settings->file, settings->file_hash);
    if (!status && settings_relevant(settings, SETTING_init_hash))
        status = verify_file(settings->init, settings->init_hash);
    return status;
}

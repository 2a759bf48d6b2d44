/* A small sweep for the store's tests: its layout, its units, and records with values that can be told apart. */
#ifndef BNSWEEP_TESTS_STORE_FIXTURE_H
#define BNSWEEP_TESTS_STORE_FIXTURE_H

#include "bnsweep/measure/record.h"
#include "bnsweep/store/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIXTURE_CHECKS = 3, FIXTURE_SAMPLES = 4, FIXTURE_CHANNELS = 5, FIXTURE_COLUMNS = 5, FIXTURE_STEPS = 7, FIXTURE_PARAMETERS = 6,
       FIXTURE_MOST_UNITS = 64 };

static const int64_t fixture_checks[] = {100, 200, 300}, fixture_samples[] = {1, 11, 21, 31};
static const int64_t fixture_layer[] = {1, 1, 2, 2, 2}, fixture_index[] = {0, 1, 0, 1, 2};
static const char *const fixture_layers[] = {"conv1", "conv2"}, *const fixture_orders[] = {"lag", "angle", "random"};
static const int64_t fixture_reests[] = {200}, fixture_ks[] = {1, 2};
static const double fixture_emas[] = {0.99};
static const int64_t fixture_steps[] = {1, 2, 3, 4, 5, 6, 7}, fixture_parameters[] = {0, 1, 2, 3, 4, 5};
static const struct layout_column fixture_columns[FIXTURE_COLUMNS] = {
    {"lr", LAYOUT_REAL, "1", "learning rate"},
    {"seed", LAYOUT_INTEGER, "1", "seed"},
    {"optimizer", LAYOUT_TEXT, "", "optimizer"},
    {"norm", LAYOUT_TEXT, "", "normalisation"},
    {"note", LAYOUT_TEXT, NULL, NULL},
};
static const struct layout_attribute fixture_attributes[] = {
    {"sweep", "small", true},
    {"measure", "first_check = 100\n", true},
    {"ini", "[sweep]\nname = small\n", false},
};

static inline struct layout fixture_layout(void)
{
    return (struct layout){
        .extent = {.checks = 3, .samples = 4, .channels = 5, .layers = 2, .reests = 1, .orders = 3, .ks = 2, .emas = 1,
                   .steps = FIXTURE_STEPS, .parameters = FIXTURE_PARAMETERS},
        .checks = fixture_checks, .samples = fixture_samples, .channel_layer = fixture_layer, .channel_index = fixture_index,
        .layers = fixture_layers, .reests = fixture_reests, .orders = fixture_orders, .ks = fixture_ks, .emas = fixture_emas,
        .steps = fixture_steps, .parameters = fixture_parameters,
        .columns = fixture_columns, .column_count = FIXTURE_COLUMNS, .attributes = fixture_attributes, .attribute_count = 3};
}

static inline enum status fixture_describe(void *context, size_t unit, size_t column, struct writer_text *out)
{
    static char text[64];
    const size_t capacity = sizeof text;
    (void)context;
    *out = (struct writer_text){.text = text};
    switch (column) {
    case WRITER_ARM: snprintf(text, capacity, "arm %zu", unit % 2); break;
    case 0: snprintf(text, capacity, "%.17g", 0.1 * (double)(unit + 1)); break;
    case 1: snprintf(text, capacity, "%zu", unit); break;
    case 2: snprintf(text, capacity, "%s", unit % 2 ? "adam" : "sgd"); break;
    case 3: snprintf(text, capacity, "batch"); break;
    default: snprintf(text, capacity, "%s", unit == 1 ? "größer" : ""); break;
    }
    return STATUS_OK;
}

static inline struct hash fixture_identity(size_t unit)
{
    return hash_bytes(&unit, sizeof unit);
}

/* Open the store at `path` for units 0 .. count - 1. */
static inline enum status fixture_open(const char *path, const struct layout *layout, size_t count, struct writer_unit *out,
                                       struct writer **writer)
{
    static struct hash identities[FIXTURE_MOST_UNITS];
    for (size_t i = 0; i < count; i++)
        identities[i] = fixture_identity(i);
    struct writer_units units = {.count = count, .identities = identities, .describe = fixture_describe};
    return writer_open(path, layout, &units, out, writer);
}

/* Value number `i` of a record: mostly numbers, some that are hard to keep. */
static inline float fixture_value(uint64_t row, enum variable_group group, size_t index, size_t i)
{
    static const float hard[] = {-0.0f, INFINITY, 1e-42f, -INFINITY, 3.4e38f};
    if (i % 17 == 3)
        return hard[(row + i / 17) % 5];
    if (i % 17 == 9)
        return NAN;
    return (float)row * 1000.0f + (float)(int)group * 100.0f + (float)index * 10.0f + (float)i * 0.001f;
}

static inline enum status fixture_values(struct writer *writer, const struct layout *layout, uint64_t row, enum variable_group group,
                                         uint32_t index)
{
    size_t size = variables_record_size(group, &layout->extent);
    float values[256];
    struct pack pack = {0};
    for (size_t i = 0; i < size; i++)
        values[i] = fixture_value(row, group, index, i);
    struct record record = {.kind = RECORD_VALUES, .group = group, .index = index, .count = (uint32_t)size, .values = values};
    enum status status = record_pack(&record, &pack);
    if (!status)
        status = writer_record(writer, row, 1, index, pack.data, pack.size);
    pack_free(&pack);
    return status;
}

static inline enum status fixture_end(struct writer *writer, uint64_t row, enum record_outcome outcome, const char *applied)
{
    struct pack pack = {0};
    struct record *record = calloc(1, sizeof *record);
    record->kind = RECORD_END;
    record->outcome = outcome;
    record->steps = 300;
    record->seconds = 12.5;
    record->weights_init = hash_bytes("init", 4);
    record->weights_final = hash_bytes("final", 5);
    record->statistics_final = hash_bytes("statistics", 10);
    snprintf(record->applied, sizeof record->applied, "%s", applied);
    enum status status = record_pack(record, &pack);
    if (!status)
        status = writer_record(writer, row, 1, 1000, pack.data, pack.size);
    pack_free(&pack);
    free(record);
    return status;
}

/* Steps [first, first + count) of batch statistics in one record; their values are the fixture's and a bit that no float has. */
static inline enum status fixture_steps_record(struct writer *writer, const struct layout *layout, uint64_t row, uint32_t first,
                                               uint32_t count)
{
    size_t size = variables_record_size(GROUP_STEP, &layout->extent);
    double values[FIXTURE_STEPS * 2 * FIXTURE_CHANNELS];
    struct pack pack = {0};
    for (size_t i = 0; i < count * size; i++)
        values[i] = (double)fixture_value(row, GROUP_STEP, first + i / size, i % size) + 0x1p-40;
    struct record record = {.kind = RECORD_VALUES, .group = GROUP_STEP, .index = first, .count = (uint32_t)(count * size), .doubles = values};
    enum status status = record_pack(&record, &pack);
    if (!status)
        status = writer_record(writer, row, 1, 2000 + first, pack.data, pack.size);
    pack_free(&pack);
    return status;
}

/* Everything of one unit. Units in rows that are multiples of 4 keep batch statistics, in uneven pieces that overlap. */
static inline enum status fixture_unit(struct writer *writer, const struct layout *layout, uint64_t row)
{
    enum status status = writer_status(writer, row, UNIT_RUNNING, 1, "node1", 3, 1.75e9, "");
    if (!status)
        status = fixture_values(writer, layout, row, GROUP_UNIT, 0);
    for (uint32_t i = 0; !status && i < layout->extent.checks; i++)
        status = fixture_values(writer, layout, row, GROUP_CHECK, i);
    for (uint32_t i = 0; !status && i < layout->extent.samples; i++)
        status = fixture_values(writer, layout, row, GROUP_TRACE, i);
    bool keeps = layout->extent.steps && row % 4 == 0;
    if (!status && keeps)
        status = fixture_steps_record(writer, layout, row, 0, 3);
    if (!status && keeps)
        status = fixture_steps_record(writer, layout, row, 2, 5);
    for (uint32_t i = 0; !status && keeps && i < layout->extent.checks; i++)
        status = fixture_values(writer, layout, row, GROUP_WEIGHTS, i);
    if (!status)
        status = fixture_end(writer, row, RECORD_DONE, "lr = 0.125\nseed = 7\nnorm = group\nunknown = 1\n");
    return status;
}

/* A fresh folder, and its removal with the files in it. */
static inline void fixture_folder(char out[64])
{
    snprintf(out, 64, "/tmp/bnsweep-test-XXXXXX");
    if (!mkdtemp(out))
        abort();
}

static inline void fixture_remove(const char *folder)
{
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(listing), entry->d_name, 0);
    if (listing)
        closedir(listing);
    rmdir(folder);
}

/* Return how many files in `folder` have `part` in their name. */
static inline int fixture_count(const char *folder, const char *part)
{
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        count += strstr(entry->d_name, part) != NULL;
    if (listing)
        closedir(listing);
    return count;
}

/* The whole of a small file; free. */
static inline unsigned char *fixture_load(const char *path, size_t *size)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info))
        abort();
    unsigned char *bytes = malloc((size_t)info.st_size + 1);
    if (!bytes || read(fd, bytes, (size_t)info.st_size) != info.st_size)
        abort();
    close(fd);
    *size = (size_t)info.st_size;
    return bytes;
}

static inline void fixture_save(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
}

#endif

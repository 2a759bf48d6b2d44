#include "bnsweep/measure/record.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/base/unpack.h"

#include <string.h>

enum status record_pack(const struct record *record, struct pack *pack)
{
    pack_u8(pack, (uint8_t)record->kind);
    if (record->kind == RECORD_VALUES) {
        pack_u8(pack, (uint8_t)record->group);
        pack_u32(pack, record->index);
        pack_u32(pack, record->count);
        for (uint32_t i = 0; i < record->count; i++)
            if (variables_double(record->group))
                pack_f64(pack, record->doubles[i]);
            else
                pack_f32(pack, record->values[i]);
    } else {
        pack_u8(pack, (uint8_t)record->outcome);
        pack_u64(pack, record->steps);
        pack_f64(pack, record->seconds);
        pack_hash(pack, record->weights_init);
        pack_hash(pack, record->weights_final);
        pack_hash(pack, record->statistics_final);
        pack_text(pack, record->applied);
    }
    return pack->failed ? status_fail(STATUS_NOMEM, "out of memory for a record") : STATUS_OK;
}

static enum status unpack_values(struct unpack *unpack, struct record *out)
{
    uint8_t group = unpack_u8(unpack);
    out->index = unpack_u32(unpack);
    out->count = unpack_u32(unpack);
    bool doubles = variables_double((enum variable_group)group);
    size_t width = doubles ? sizeof(double) : sizeof(float);
    if (group >= GROUP_COUNT || out->count > RECORD_MAX_VALUES || out->count * width != unpack->size - unpack->at)
        return status_fail(STATUS_CORRUPT, "record of values: group %u, %u values, but %zu bytes follow", group,
                           out->count, unpack->size - unpack->at);
    out->group = (enum variable_group)group;
    void *values = mem_array(out->count, width);
    if (!values)
        return STATUS_NOMEM;
    out->values = doubles ? NULL : values;
    out->doubles = doubles ? values : NULL;
    for (uint32_t i = 0; i < out->count; i++)
        if (doubles)
            out->doubles[i] = unpack_f64(unpack);
        else
            out->values[i] = unpack_f32(unpack);
    return STATUS_OK;
}

static void unpack_end(struct unpack *unpack, struct record *out)
{
    uint8_t outcome = unpack_u8(unpack);
    if (outcome > RECORD_DIVERGED)
        unpack->failed = true;
    out->outcome = (enum record_outcome)outcome;
    out->steps = unpack_u64(unpack);
    out->seconds = unpack_f64(unpack);
    out->weights_init = unpack_hash(unpack);
    out->weights_final = unpack_hash(unpack);
    out->statistics_final = unpack_hash(unpack);
    unpack_text(unpack, out->applied, sizeof out->applied);
}

enum status record_unpack(const void *bytes, size_t size, struct record *out)
{
    struct unpack unpack = {.data = bytes, .size = size};
    *out = (struct record){0};
    uint8_t kind = unpack_u8(&unpack);
    enum status status = STATUS_OK;
    if (kind == RECORD_VALUES)
        status = unpack_values(&unpack, out);
    else if (kind == RECORD_END)
        unpack_end(&unpack, out);
    else
        return status_fail(STATUS_CORRUPT, "record of unknown kind %u", kind);
    out->kind = (enum record_kind)kind;
    if (!status && (unpack.failed || unpack.at != size))
        status = status_fail(STATUS_CORRUPT, "record of kind %u has %zu bytes, %zu were read", kind, size, unpack.at);
    return status;
}

void record_free(struct record *record)
{
    mem_free(record->values);
    mem_free(record->doubles);
    record->values = NULL;
    record->doubles = NULL;
}

bool record_is_end(const void *bytes, size_t size)
{
    return size && *(const uint8_t *)bytes == RECORD_END;
}

bool record_is_kept(const void *bytes, size_t size)
{
    const uint8_t *record = bytes;
    return size > 1 && record[0] == RECORD_VALUES && record[1] < GROUP_COUNT && variables_kept((enum variable_group)record[1]);
}

#include "bnsweep/mpi/wire.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/base/unpack.h"

#include <string.h>

static const uint32_t magic = 0x77736e62; /* "bnsw" */

static int fields_of(enum wire_tag tag)
{
    switch (tag) {
#define X(name, number, text, receiver, fields) case WIRE_##name: return fields;
        WIRE_TAGS(X)
#undef X
    }
    return -1;
}

const char *wire_name(enum wire_tag tag)
{
    switch (tag) {
#define X(name, number, text, receiver, fields) case WIRE_##name: return text;
        WIRE_TAGS(X)
#undef X
    }
    return "unknown";
}

bool wire_is_for_worker(enum wire_tag tag)
{
    switch (tag) {
#define X(name, number, text, receiver, fields) case WIRE_##name: return receiver == WIRE_TO_WORKER;
        WIRE_TAGS(X)
#undef X
    }
    return false;
}

static uint32_t checksum(const uint8_t *payload, size_t size)
{
    return (uint32_t)hash_checksum(payload, size, WIRE_VERSION);
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* The text's ending zero is sent too, so that the receiver can point into the frame. */
static void pack_cut_text(struct pack *pack, const char *text)
{
    size_t length = text ? strnlen(text, WIRE_MAX_TEXT - 1) : 0;
    pack_u32(pack, (uint32_t)length + 1);
    pack_bytes(pack, text, length);
    pack_u8(pack, 0);
}

static void pack_fields(const struct wire_message *message, int fields, struct pack *pack)
{
    if (fields & WIRE_TRAJECTORY)
        pack_u32(pack, message->trajectory);
    if (fields & WIRE_ATTEMPT)
        pack_u32(pack, message->attempt);
    if (fields & WIRE_NUMBER)
        pack_u32(pack, message->number);
    if (fields & WIRE_ROW)
        pack_u32(pack, message->row);
    if (fields & WIRE_STEPS) {
        pack_u64(pack, message->step);
        pack_u64(pack, message->steps);
    }
    if (fields & WIRE_PID)
        pack_u32(pack, message->pid);
    if (fields & WIRE_TEXT)
        pack_cut_text(pack, message->text);
    if (fields & WIRE_BYTES)
        pack_bytes(pack, message->bytes, message->size);
}

enum status wire_pack(const struct wire_message *message, struct pack *pack)
{
    int fields = fields_of(message->tag);
    if (fields < 0)
        return status_fail(STATUS_INTERNAL, "message with the unknown tag %d", (int)message->tag);
    if (message->size > WIRE_MAX_PAYLOAD - WIRE_MAX_TEXT)
        return status_fail(STATUS_INPUT, "%s message of %zu bytes, at most %d fit", wire_name(message->tag), message->size,
                           WIRE_MAX_PAYLOAD - WIRE_MAX_TEXT);
    size_t start = pack->size;
    pack_u32(pack, magic);
    pack_u8(pack, WIRE_VERSION);
    pack_u8(pack, (uint8_t)message->tag);
    pack_u8(pack, 0);
    pack_u8(pack, 0);
    pack_u64(pack, 0); /* length and checksum, below */
    pack_fields(message, fields, pack);
    if (pack->failed)
        return status_fail(STATUS_NOMEM, "out of memory for a %s message", wire_name(message->tag));
    uint8_t *header = pack->data + start, *payload = header + WIRE_HEADER_SIZE;
    size_t length = pack->size - start - WIRE_HEADER_SIZE;
    put_u32(header + 8, (uint32_t)length);
    put_u32(header + 12, checksum(payload, length));
    return STATUS_OK;
}

enum status wire_measure(const void *bytes, size_t size, size_t *frame_size)
{
    *frame_size = 0;
    struct unpack unpack = {.data = bytes, .size = size};
    uint32_t start = unpack_u32(&unpack);
    uint8_t version = unpack_u8(&unpack), tag = unpack_u8(&unpack);
    uint8_t zero = unpack_u8(&unpack) | unpack_u8(&unpack);
    uint32_t length = unpack_u32(&unpack);
    unpack_u32(&unpack);
    if (unpack.failed)
        return STATUS_OK;
    if (start != magic || zero)
        return status_fail(STATUS_CORRUPT, "what came is no message (it begins with %08x)", start);
    if (version != WIRE_VERSION)
        return status_fail(STATUS_VERSION, "a message of protocol version %u, this program speaks version %d: "
                           "run the same bnsweep everywhere", version, WIRE_VERSION);
    if (fields_of((enum wire_tag)tag) < 0 || length > WIRE_MAX_PAYLOAD)
        return status_fail(STATUS_CORRUPT, "a message with tag %u and %u bytes: no such tag, or too long", tag, length);
    *frame_size = WIRE_HEADER_SIZE + (size_t)length;
    return STATUS_OK;
}

static const char *unpack_inner_text(struct unpack *unpack)
{
    uint32_t size = unpack_u32(unpack);
    const uint8_t *text = size && size <= WIRE_MAX_TEXT ? unpack_bytes(unpack, size) : NULL;
    if (!text || memchr(text, 0, size) != text + size - 1) {
        unpack->failed = true;
        return "";
    }
    return (const char *)text;
}

static void unpack_fields(struct unpack *unpack, int fields, struct wire_message *out)
{
    if (fields & WIRE_TRAJECTORY)
        out->trajectory = unpack_u32(unpack);
    if (fields & WIRE_ATTEMPT)
        out->attempt = unpack_u32(unpack);
    if (fields & WIRE_NUMBER)
        out->number = unpack_u32(unpack);
    if (fields & WIRE_ROW)
        out->row = unpack_u32(unpack);
    if (fields & WIRE_STEPS) {
        out->step = unpack_u64(unpack);
        out->steps = unpack_u64(unpack);
    }
    if (fields & WIRE_PID)
        out->pid = unpack_u32(unpack);
    if (fields & WIRE_TEXT)
        out->text = unpack_inner_text(unpack);
    if (fields & WIRE_BYTES) {
        out->size = unpack->size - unpack->at;
        out->bytes = unpack_bytes(unpack, out->size);
    }
}

enum status wire_unpack(const void *bytes, size_t size, struct wire_message *out)
{
    *out = (struct wire_message){.text = ""};
    size_t frame_size;
    enum status status = wire_measure(bytes, size, &frame_size);
    if (status)
        return status;
    if (!frame_size || frame_size != size)
        return status_fail(STATUS_CORRUPT, "a message of %zu bytes, its header says %zu", size, frame_size);
    struct unpack header = {.data = bytes, .size = WIRE_HEADER_SIZE, .at = 5};
    out->tag = (enum wire_tag)unpack_u8(&header);
    header.at = 12;
    struct unpack payload = {.data = (const uint8_t *)bytes + WIRE_HEADER_SIZE, .size = size - WIRE_HEADER_SIZE};
    if (unpack_u32(&header) != checksum(payload.data, payload.size))
        return status_fail(STATUS_CORRUPT, "a %s message with a wrong checksum", wire_name(out->tag));
    unpack_fields(&payload, fields_of(out->tag), out);
    if (payload.failed || payload.at != payload.size)
        return status_fail(STATUS_CORRUPT, "a %s message of %zu bytes does not hold its fields", wire_name(out->tag), size);
    return STATUS_OK;
}

/* A stream of messages: measured and unpacked as they lie, and once more with right checksums, so that what is behind them is read.
 * What was understood is packed again and must give the same bytes. */
#include "target.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/measure/record.h"
#include "bnsweep/mpi/wire.h"
#include "bnsweep/run/job.h"

#include <string.h>

enum { CHECKSUM_AT = 12 };

static void look_inside(const struct wire_message *message)
{
    struct record record;
    static struct job job;
    if (!record_unpack(message->bytes, message->size, &record) && record.kind == RECORD_VALUES && record.count && !record.values)
        abort();
    record_free(&record);
    if (message->tag == WIRE_JOB)
        job_unpack(message->bytes, message->size, &job);
}

static void read_stream(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0, frame; at < size; at += frame) {
        struct wire_message message;
        if (wire_measure(bytes + at, size - at, &frame) || !frame || frame > size - at)
            return;
        if (wire_unpack(bytes + at, frame, &message))
            continue;
        struct pack pack = {0};
        if (wire_pack(&message, &pack) || pack.size != frame || memcmp(pack.data, bytes + at, frame) != 0)
            abort();
        pack_free(&pack);
        look_inside(&message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    read_stream(bytes, size);
    uint8_t *copy = target_copy(bytes, size);
    for (size_t at = 0, frame; at < size; at += frame) {
        if (wire_measure(copy + at, size - at, &frame) || !frame || frame > size - at)
            break;
        uint32_t checksum = (uint32_t)hash_checksum(copy + at + WIRE_HEADER_SIZE, frame - WIRE_HEADER_SIZE, WIRE_VERSION);
        for (int i = 0; i < 4; i++)
            copy[at + CHECKSUM_AT + (size_t)i] = (uint8_t)(checksum >> 8 * i);
    }
    read_stream(copy, size);
    free(copy);
    return 0;
}

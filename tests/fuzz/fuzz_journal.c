/* A journal: read as it lies; and with right checksums and the right store's identity beside a whole store, read, published and
 * repaired. */
#include "target.h"

#include "small_store.h"

#include "bnsweep/store/journal_reader.h"
#include "bnsweep/store/publish.h"
#include "bnsweep/store/reader_unit.h"
#include "bnsweep/store/repair.h"

enum { IDENTITY_AT = 16, CHECKSUM_AT = 20, TURNS = 32, PUBLISH = 0, REPAIR = 1 };

static void put_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void read_alone(const char *path)
{
    struct journal_reader *reader;
    struct journal_entry entry, again;
    bool more = true;
    uint64_t offset;
    if (journal_reader_open(path, &reader) || !reader)
        return;
    while (!journal_reader_next(reader, &entry, &more) && more) {
        uint64_t sequence = entry.sequence;
        if (journal_reader_at(reader, entry.offset, &again) || again.sequence != sequence)
            abort();
    }
    journal_reader_torn(reader, &offset);
    journal_reader_close(reader);
}

/* The store that the journals belong to, made once; and its identity, out of the journal that it had while it was written. */
static const unsigned char *whole_store(size_t *size, uint8_t identity[16])
{
    static unsigned char *store;
    static size_t store_size;
    static uint8_t known[16];
    if (!store) {
        struct writer_unit units[SMALL_STORE_UNITS];
        char journal[340];
        size_t journal_size;
        const char *path = target_file((const uint8_t *)"", 0, "");
        unlink(path);
        snprintf(journal, sizeof journal, "%s.journal", path);
        struct writer *writer = small_store_open(path, units);
        unsigned char *bytes = fixture_load(journal, &journal_size);
        memcpy(known, bytes + IDENTITY_AT, sizeof known);
        free(bytes);
        if (writer_close(writer))
            abort();
        store = fixture_load(path, &store_size);
    }
    memcpy(identity, known, sizeof known);
    *size = store_size;
    return store;
}

static void repair(uint8_t *bytes, size_t size, const uint8_t identity[16])
{
    if (size < JOURNAL_HEADER_SIZE)
        return;
    memcpy(bytes + IDENTITY_AT, identity, 16);
    put_u64(bytes + JOURNAL_HEADER_SIZE - 8, hash_checksum(bytes, JOURNAL_HEADER_SIZE - 8, 0));
    for (size_t at = JOURNAL_HEADER_SIZE; size - at >= JOURNAL_ENTRY_HEAD;) {
        size_t length = get_u32(bytes + at), rest = size - at - JOURNAL_ENTRY_HEAD;
        if (length > rest)
            return;
        uint64_t checksum = hash_checksum(bytes + at + JOURNAL_ENTRY_HEAD, length, hash_checksum(bytes + at, CHECKSUM_AT, 0));
        put_u64(bytes + at + CHECKSUM_AT, checksum);
        at += JOURNAL_ENTRY_HEAD + length;
    }
}

static void read_beside_store(const char *store)
{
    struct reader *reader;
    struct reader_unit units[SMALL_STORE_UNITS];
    if (reader_open(store, &reader))
        return;
    enum status status = reader_unit_list(reader, 0, SMALL_STORE_UNITS, units);
    reader_unit_free(units, SMALL_STORE_UNITS);
    reader_close(reader);
    if (status)
        abort();
}

/* After a repair the store is one, and a run refuses it no more. */
static void repair_beside_store(const char *store)
{
    struct repair_report report, again;
    if (repair_store(store, &report))
        return;
    if (report.needed)
        unlink(report.kept);
    read_beside_store(store);
    if (repair_store(store, &again) || again.needed)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t store_size;
    uint8_t identity[16];
    const unsigned char *store = whole_store(&store_size, identity);
    read_alone(target_file(bytes, size, ".journal"));
    uint8_t *copy = target_copy(bytes, size);
    repair(copy, size, identity);
    target_file(copy, size, ".journal");
    uint64_t turn = hash_checksum(copy, size, 0) % TURNS; /* some things take as long as so many readings */
    free(copy);
    const char *path = target_file(store, store_size, "");
    read_beside_store(path);
    if (turn == PUBLISH && !publish_run(path)) /* what was published must be a store */
        read_beside_store(path);
    if (turn == REPAIR)
        repair_beside_store(path);
    return 0;
}

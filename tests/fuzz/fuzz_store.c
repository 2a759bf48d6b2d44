/* A store with changed bytes: opened, read and verified in full. The input is what is changed in a small whole store: its new length
 * (u32; longer than it is: all of it), then five bytes a change, an offset (u32) and the byte there. */
#include "target.h"

#include "small_store.h"

#include "bnsweep/store/verify.h"

enum { LENGTH_SIZE = 4, CHANGE_SIZE = 5 };

static uint32_t get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static const unsigned char *whole_store(size_t *size)
{
    static unsigned char *store;
    static size_t store_size;
    if (!store) {
        struct layout layout = small_store_layout();
        struct writer_unit units[SMALL_STORE_UNITS];
        const char *path = target_file((const uint8_t *)"", 0, "");
        unlink(path);
        struct writer *writer = small_store_open(path, units);
        if (fixture_unit(writer, &layout, 0) || writer_close(writer))
            abort();
        store = fixture_load(path, &store_size);
    }
    *size = store_size;
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t store_size;
    const unsigned char *whole = whole_store(&store_size);
    uint8_t *store = target_copy(whole, store_size);
    size_t length = size >= LENGTH_SIZE ? get_u32(bytes) : store_size;
    for (size_t at = LENGTH_SIZE; at + CHANGE_SIZE <= size; at += CHANGE_SIZE)
        store[get_u32(bytes + at) % store_size] = bytes[at + CHANGE_SIZE - 1];
    struct verify_report report;
    verify_store(target_file(store, length < store_size ? length : store_size, ""), NULL, NULL, &report);
    free(store);
    return 0;
}

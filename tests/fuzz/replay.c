/* replay FILE...: run a fuzz target over files, and over each of them with bytes cut off its end and with single bytes changed.
 * A target crashes, hangs or returns. */
#include "target.h"

#include <string.h>

enum { CUTS = 4, CHANGES = 8 };

static size_t runs;

static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = target_copy(bytes, size); /* so that a sanitizer sees a read behind the end */
    exact = realloc(exact, size ? size : 1);
    if (!exact)
        abort();
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

static void run_variants(uint8_t *bytes, size_t size)
{
    uint32_t random = 1;
    run(bytes, size);
    for (size_t i = 1; i <= CUTS && size; i++)
        run(bytes, size * i / (CUTS + 1));
    for (size_t i = 0; i < CHANGES && size; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = (random >> 8) % size;
        uint8_t kept = bytes[at];
        bytes[at] ^= (uint8_t)(1u << (random & 7));
        run(bytes, size);
        bytes[at] = kept;
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        static uint8_t bytes[1 << 20];
        if (!file)
            return 2;
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        run_variants(bytes, size);
    }
    printf("%zu inputs from %d files\n", runs, argc - 1);
    return runs == 0;
}

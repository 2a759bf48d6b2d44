/* A sweep file: read it, and all its units' settings. */
#include "target.h"

#include "bnsweep/sweep/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { UNITS = 20 };
    struct sweep sweep = {0};
    enum status status = sweep_load(target_file(bytes, size, ""), NULL, 0, &sweep);
    for (size_t i = 0; !status && i < sweep.unit_count && i < UNITS; i++) {
        struct settings settings;
        const char *arm;
        if (sweep_unit(&sweep, i, &settings, &arm))
            abort();
    }
    sweep_free(&sweep);
    return 0;
}

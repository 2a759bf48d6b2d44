#include "provenance.h"

#include "bnsweep/core/gemm.h"
#include "bnsweep/sweep/identity.h"
#include "build_info.h" /* made by cmake: BUILD_* texts */


/* The kernels' class decides the bits of a sum; the OpenBLAS reference engine's are the library's own. */
#define ENGINE "reference (im2row and OpenBLAS on one thread)"

const struct provenance_row *provenance_rows(size_t *count)
{
    static struct provenance_row rows[] = {
        {"program_version", BUILD_VERSION},
        {"git_commit", BUILD_COMMIT},
        {"numerics_version", NULL},
        {"compiler", BUILD_COMPILER},
        {"compiler_flags", BUILD_FLAGS},
        {"engine", ENGINE},
        {"blas", NULL},
        {"libraries", BUILD_LIBRARIES},
        {"instruction_set", BUILD_ARCHITECTURE " (compiled); the BLAS library chooses its own, see blas"},
    };
    static char numerics[16];
    snprintf(numerics, sizeof numerics, "%d", IDENTITY_NUMERICS_VERSION);
    rows[2].text = numerics;
    rows[6].text = gemm_library();
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const char *provenance_identity(void)
{
    return BUILD_VERSION " " BUILD_COMMIT " " BUILD_COMPILER;
}

void provenance_print(FILE *out)
{
    size_t count;
    const struct provenance_row *rows = provenance_rows(&count);
    fprintf(out, "bnsweep %s\n", BUILD_VERSION);
    for (size_t i = 1; i < count; i++)
        fprintf(out, "%-17s %s\n", rows[i].name, rows[i].text);
}

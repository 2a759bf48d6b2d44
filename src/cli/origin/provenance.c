#include "provenance.h"

#include "bnsweep/core/engine.h"
#include "bnsweep/core/gemm.h"
#include "bnsweep/sweep/identity.h"
#include "build_info.h" /* made by cmake: BUILD_* texts */

const struct provenance_row *provenance_rows(size_t *count)
{
    static struct provenance_row rows[] = {
        {"program_version", BUILD_VERSION},
        {"git_commit", BUILD_COMMIT},
        {"numerics_version", NULL},
        {"compiler", BUILD_COMPILER},
        {"compiler_flags", BUILD_FLAGS},
        {"engine", NULL},
        {"blas", NULL},
        {"libraries", BUILD_LIBRARIES},
        {"instruction_set", BUILD_ARCHITECTURE " (compiled); the engine's is in its name; BLAS is called by the reference engine alone"},
    };
    static char numerics[16], engine_text[64];
    const struct engine *engine = NULL;
    snprintf(numerics, sizeof numerics, "%d", IDENTITY_NUMERICS_VERSION);
    if (engine_choose(&engine))
        snprintf(engine_text, sizeof engine_text, "none");
    else
        snprintf(engine_text, sizeof engine_text, "%s, class of bits: %s", engine->name, engine->bits);
    rows[2].text = numerics;
    rows[5].text = engine_text;
    rows[6].text = gemm_library();
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const char *provenance_identity(void)
{
    static char text[256];
    const struct engine *engine = NULL;
    const char *class = engine_choose(&engine) ? "none" : engine->bits;
    snprintf(text, sizeof text, "%s %s %s, %s bits", BUILD_VERSION, BUILD_COMMIT, BUILD_COMPILER, class);
    return text;
}

void provenance_print(FILE *out)
{
    size_t count;
    const struct provenance_row *rows = provenance_rows(&count);
    fprintf(out, "bnsweep %s\n", BUILD_VERSION);
    for (size_t i = 1; i < count; i++)
        fprintf(out, "%-17s %s\n", rows[i].name, rows[i].text);
}

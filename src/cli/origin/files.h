/* The data and init files that settings name, read into memory as the core takes them. */
#ifndef BNSWEEP_CLI_FILES_H
#define BNSWEEP_CLI_FILES_H

#include "bnsweep/base/status.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/store/dataset.h"
#include "bnsweep/sweep/settings.h"

/* Zero-initialise. */
struct files {
    struct dataset dataset;
    struct task_images images;
    struct dataset_init init_file;
    struct init_tensor *init;
    struct configure_files view; /* into the above; must not outlive it */
};

/* Read what the settings name; nothing where they name nothing. Free with files_free also on failure.
 * STATUS_INPUT, STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM as store/dataset.h. */
enum status files_read(const struct settings *settings, struct files *out);

void files_free(struct files *files);

#endif

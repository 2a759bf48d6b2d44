/* From a unit's settings to what the core is built from. */
#ifndef BNSWEEP_RUN_CONFIGURE_H
#define BNSWEEP_RUN_CONFIGURE_H

#include "bnsweep/base/status.h"
#include "bnsweep/run/trajectory.h"
#include "bnsweep/sweep/settings.h"

/* What settings name by path, in memory. Nothing is owned; all must outlive trajectory_create, images the trajectory. */
struct configure_files {
    const struct task_images *images; /* data = file, else NULL */
    size_t init_count;                /* 0 with init = default */
    const struct init_tensor *init;
};

/* Return what is measured and when. */
struct plan configure_plan(const struct settings *settings);

/* Return the learning rate's schedule. */
struct schedule_config configure_schedule(const struct settings *settings);

/* Return the store's axes for a unit with these settings. */
struct variables_extent configure_extent(const struct settings *settings);

/* Describe the trajectory of units with these settings, once for each of `count` BN momenta (which replace settings->bn_momentum).
 * STATUS_INPUT where there are too many momenta, or where files and settings do not fit together. */
enum status configure_trajectory(const struct settings *settings, size_t count, const double *momenta,
                                 const struct configure_files *files, struct trajectory_config *out);

#endif

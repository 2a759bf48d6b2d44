#include "preflight.h"

#include "origin/files.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/core/init.h"
#include "bnsweep/core/task.h"

#include <string.h>

static bool names_files(const struct settings *settings)
{
    return settings->data == DATA_FILE || strcmp(settings->init, "default") != 0;
}

static bool same_files(const struct settings *a, const struct settings *b)
{
    return a->data == b->data && strcmp(a->file, b->file) == 0 && strcmp(a->init, b->init) == 0;
}

/* Put the initial weights where a trajectory would, and throw them away. */
static enum status check_init(const struct net *net, const struct configure_files *files)
{
    real *weights = mem_array(net->size, sizeof *weights), *mean = mem_array(net->channels, sizeof *mean);
    real *var = mem_array(net->channels, sizeof *var);
    enum status status = weights && mean && var ? STATUS_OK : STATUS_NOMEM;
    if (!status)
        status = init_tensors(net, files->init_count, files->init, weights, mean, var);
    mem_free(weights);
    mem_free(mean);
    mem_free(var);
    return status;
}

static enum status check_unit(const struct settings *settings, const struct configure_files *files)
{
    struct trajectory_config config;
    struct net net;
    enum status status = configure_trajectory(settings, 1, &settings->bn_momentum, files, &config);
    if (!status)
        status = net_plan(&config.net, &engine_reference, &net);
    if (!status)
        status = task_check(&config.task);
    status = status_context(status, "%s", settings->data == DATA_FILE ? settings->file : settings->init);
    if (!status && files->init_count)
        status = status_context(check_init(&net, files), "%s", settings->init);
    return status;
}

enum status preflight_check(const struct sweep *sweep)
{
    struct settings settings, last = {0};
    struct files files = {0};
    enum status status = STATUS_OK;
    bool loaded = false;
    for (size_t i = 0; sweep->grid.file_count && !status && i < sweep->unit_count; i++) {
        status = sweep_unit(sweep, i, &settings, NULL);
        if (status || !names_files(&settings))
            continue;
        if (!loaded || !same_files(&settings, &last)) {
            files_free(&files);
            status = files_read(&settings, &files);
            loaded = true;
        }
        last = settings;
        if (!status)
            status = check_unit(&settings, &files.view);
        if (status) {
            char unit[GRID_TEXT_SIZE];
            grid_describe(&sweep->grid, i, unit);
            status_context(status, "%s", unit);
        }
    }
    files_free(&files);
    return status;
}

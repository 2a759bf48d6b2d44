#include "parameters.h"

#include "bnsweep/measure/record.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/store/dataset.h"
#include "bnsweep/sweep/identity.h"

#include <stdio.h>
#include <string.h>

/* Plan the unit's network; sizes that a data file gives are in `shape`. */
static enum status plan_network(const struct settings *settings, const struct dataset_shape *shape, struct net *out)
{
    bool from_file = settings->data == DATA_FILE;
    struct task_images images = {.channels = shape->channels, .h = shape->height, .w = shape->width};
    struct configure_files files = {.images = from_file ? &images : NULL, .init_count = strcmp(settings->init, "default") != 0};
    struct trajectory_config config;
    enum status status = configure_trajectory(settings, 1, &settings->bn_momentum, &files, &config);
    if (!status && from_file)
        config.net.classes = shape->classes;
    return status ? status : net_plan(&config.net, &engine_reference, out);
}

static void write_text(const struct net *net, char text[PARAMETERS_TEXT_SIZE])
{
    size_t at = 0;
    for (int i = 0; i < net->param_count && at < PARAMETERS_TEXT_SIZE; i++) {
        const struct net_param *param = &net->params[i];
        at += (size_t)snprintf(text + at, PARAMETERS_TEXT_SIZE - at, "%s %zu [%zu][%zu]\n", param->name, param->offset, param->length,
                               param->channels);
    }
}

enum status parameters_survey(const struct sweep *sweep, size_t *count, char text[PARAMETERS_TEXT_SIZE])
{
    struct settings settings;
    struct dataset_shape shape = {0};
    struct net net;
    char file[SETTINGS_PATH_SIZE] = "";
    enum status status = STATUS_OK;
    *count = 0;
    for (size_t i = 0; !status && i < sweep->unit_count; i++) {
        status = sweep_unit(sweep, i, &settings, NULL);
        if (status || !settings.keep_batch_stats || !identity_fusable(&settings))
            continue;
        if (settings.data == DATA_FILE && strcmp(file, settings.file) != 0)
            status = dataset_shape(settings.file, &shape);
        memcpy(file, settings.file, sizeof file);
        if (!status)
            status = plan_network(&settings, &shape, &net);
        if (!status && net.size > *count) {
            *count = net.size;
            write_text(&net, text);
        }
    }
    if (!status && *count > RECORD_MAX_VALUES)
        status = status_fail(STATUS_INPUT, "keep_batch_stats = yes: the network has %zu parameters; up to %d are possible", *count,
                             RECORD_MAX_VALUES);
    return status;
}

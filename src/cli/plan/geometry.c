#include "geometry.h"

#include "bnsweep/core/packed.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/store/dataset.h"

#include <stdio.h>

size_t geometry_methods(const struct settings *settings, const char *method[NET_MAX_BLOCKS])
{
    static const struct configure_files none;
    struct trajectory_config config;
    struct net net;
    const struct engine *engine;
    struct settings images = *settings;
    struct dataset_shape shape = {.height = (size_t)settings->image, .width = (size_t)settings->image};
    if (images.data == DATA_FILE && dataset_shape(settings->file, &shape))
        return 0;
    images.data = DATA_TEMPLATES;
    snprintf(images.init, sizeof images.init, "default");
    enum status status = configure_trajectory(&images, 1, &images.bn_momentum, &none, &config);
    config.net.image_h = shape.height;
    config.net.image_w = shape.width;
    if (status || engine_choose(&engine) || net_plan(&config.net, engine, &net))
        return 0;
    for (size_t i = 0; i < net.config.blocks; i++)
        method[i] = packed_method(&net, i);
    return net.config.blocks;
}

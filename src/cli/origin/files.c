#include "files.h"

#include "bnsweep/base/mem.h"

#include <string.h>

static enum status read_images(const struct settings *settings, struct files *out)
{
    enum status status = dataset_read(settings->file, &out->dataset);
    const struct dataset *d = &out->dataset;
    out->images = (struct task_images){d->shape.channels, d->shape.height, d->shape.width, d->shape.train_count,
                                       d->shape.val_count, d->train_x, d->val_x, d->train_y, d->val_y};
    out->view.images = &out->images;
    return status;
}

static enum status read_init(const struct settings *settings, struct files *out)
{
    enum status status = dataset_init_read(settings->init, &out->init_file);
    if (status)
        return status;
    out->init = mem_array(out->init_file.count, sizeof *out->init);
    for (size_t i = 0; out->init && i < out->init_file.count; i++) {
        const struct dataset_array *array = &out->init_file.arrays[i];
        out->init[i] = (struct init_tensor){.name = array->name, .rank = array->rank, .values = array->values};
        memcpy(out->init[i].shape, array->size, sizeof out->init[i].shape);
    }
    out->view.init = out->init;
    out->view.init_count = out->init_file.count;
    return out->init ? STATUS_OK : STATUS_NOMEM;
}

enum status files_read(const struct settings *settings, struct files *out)
{
    enum status status = STATUS_OK;
    if (settings->data == DATA_FILE)
        status = read_images(settings, out);
    if (!status && strcmp(settings->init, "default") != 0)
        status = read_init(settings, out);
    return status;
}

void files_free(struct files *files)
{
    dataset_free(&files->dataset);
    dataset_init_free(&files->init_file);
    mem_free(files->init);
    *files = (struct files){0};
}

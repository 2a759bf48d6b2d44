#include "bnsweep/store/dataset.h"

#include "bnsweep/base/mem.h"
#include "floats_internal.h"

/* The images and labels of the training or the validation part. */
struct part {
    struct floats x, y;
};

static enum status open_part(hid_t file, const char *path, const char *x, const char *y, struct part *out)
{
    out->y.dataset = -1;
    enum status status = floats_open(file, path, x, 4, H5T_FLOAT, &out->x);
    if (!status)
        status = floats_open(file, path, y, 1, H5T_INTEGER, &out->y);
    if (!status && out->x.size[0] != out->y.size[0])
        status = status_fail(STATUS_INPUT, "%s: %s has %llu images, but %s has %llu labels", path, x,
                             (unsigned long long)out->x.size[0], y, (unsigned long long)out->y.size[0]);
    return status;
}

static void close_part(struct part *part)
{
    floats_close(&part->x);
    floats_close(&part->y);
}

static size_t largest_label(const int32_t *labels, size_t count)
{
    int32_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = labels[i] > largest ? labels[i] : largest;
    return (size_t)largest;
}

static enum status read_labels(const struct part *train, const struct part *val, struct dataset *out)
{
    struct dataset_shape *shape = &out->shape;
    for (int i = 1; i < 4; i++)
        if (train->x.size[i] != val->x.size[i])
            return status_fail(STATUS_INPUT, "%s: axis %d of train_x has length %llu, of val_x %llu; images must be of one size",
                               train->x.path, i, (unsigned long long)train->x.size[i], (unsigned long long)val->x.size[i]);
    *shape = (struct dataset_shape){.train_count = train->x.size[0], .val_count = val->x.size[0], .channels = train->x.size[1],
                                    .height = train->x.size[2], .width = train->x.size[3]};
    enum status status = floats_read_labels(&train->y, &out->train_y);
    if (!status)
        status = floats_read_labels(&val->y, &out->val_y);
    if (status)
        return status;
    size_t a = largest_label(out->train_y, shape->train_count), b = largest_label(out->val_y, shape->val_count);
    shape->classes = (a > b ? a : b) + 1;
    return STATUS_OK;
}

static enum status read_file(const char *path, bool images, struct dataset *out)
{
    struct part train = {.x.dataset = -1, .y.dataset = -1}, val = train;
    hid_t file;
    *out = (struct dataset){0};
    enum status status = h5_open(path, false, &file);
    if (status)
        return status;
    status = open_part(file, path, "train_x", "train_y", &train);
    if (!status)
        status = open_part(file, path, "val_x", "val_y", &val);
    if (!status)
        status = read_labels(&train, &val, out);
    if (!status && images)
        status = floats_read(&train.x, &out->train_x);
    if (!status && images)
        status = floats_read(&val.x, &out->val_x);
    close_part(&train);
    close_part(&val);
    H5Fclose(file);
    return status;
}

enum status dataset_shape(const char *path, struct dataset_shape *out)
{
    struct dataset dataset;
    enum status status = read_file(path, false, &dataset);
    *out = dataset.shape;
    dataset_free(&dataset);
    return status;
}

enum status dataset_read(const char *path, struct dataset *out)
{
    return read_file(path, true, out);
}

void dataset_free(struct dataset *dataset)
{
    mem_free(dataset->train_x);
    mem_free(dataset->train_y);
    mem_free(dataset->val_x);
    mem_free(dataset->val_y);
    *dataset = (struct dataset){0};
}

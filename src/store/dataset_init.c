#include "bnsweep/base/mem.h"
#include "bnsweep/store/dataset.h"
#include "floats_internal.h"

#include <stdio.h>
#include <string.h>

/* What may stand in the file. `layered`: the name's %d is a convolution's number, else there is one. The size of axis 0 is the
 * layer's outputs, of axis 1 the outputs before it. */
static const struct kind {
    const char *format;
    bool layered, required;
    int rank;
} kinds[] = {
    {"conv%d.weight", true, true, 4},      {"conv%d.bias", true, false, 1},
    {"norm%d.weight", true, false, 1},     {"norm%d.bias", true, false, 1},
    {"norm%d.running_mean", true, false, 1}, {"norm%d.running_var", true, false, 1},
    {"linear.weight", false, true, 2},     {"linear.bias", false, true, 1},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static void name_array(const struct kind *kind, int layer, char out[DATASET_NAME_SIZE])
{
    if (kind->layered) {
        const char *rest = strstr(kind->format, "%d");
        snprintf(out, DATASET_NAME_SIZE, "%.*s%d%s", (int)(rest - kind->format), kind->format, layer, rest + 2);
    } else {
        snprintf(out, DATASET_NAME_SIZE, "%s", kind->format);
    }
}

static enum status read_array(hid_t file, const char *path, int rank, struct dataset_array *array)
{
    struct floats floats;
    enum status status = floats_open(file, path, array->name, rank, H5T_FLOAT, &floats);
    if (!status)
        status = floats_read(&floats, &array->values);
    array->rank = floats.rank;
    for (int i = 0; i < floats.rank; i++)
        array->size[i] = floats.size[i];
    floats_close(&floats);
    return status;
}

static enum status add_array(hid_t file, const char *path, const char *name, int rank, struct dataset_init *out)
{
    struct dataset_array *arrays = mem_grow(out->arrays, out->count, out->count + 1, sizeof *arrays);
    if (!arrays)
        return STATUS_NOMEM;
    out->arrays = arrays;
    struct dataset_array *array = &arrays[out->count++];
    snprintf(array->name, sizeof array->name, "%s", name);
    return read_array(file, path, rank, array);
}

/* Read what is there of one layer (0: the linear one). */
static enum status read_layer(hid_t file, const char *path, int layer, struct dataset_init *out)
{
    char name[DATASET_NAME_SIZE];
    enum status status = STATUS_OK;
    for (int i = 0; !status && i < KIND_COUNT; i++) {
        if (kinds[i].layered != (layer > 0))
            continue;
        name_array(&kinds[i], layer, name);
        if (kinds[i].required || H5Lexists(file, name, H5P_DEFAULT) > 0)
            status = add_array(file, path, name, kinds[i].rank, out);
    }
    return status;
}

static enum status check_layer(const char *path, int layer, size_t *inputs, const struct dataset_init *init)
{
    char name[DATASET_NAME_SIZE];
    snprintf(name, sizeof name, layer ? "conv%d.weight" : "linear.weight", layer);
    const struct dataset_array *weight = dataset_init_find(init, name);
    if (*inputs && weight->size[1] != *inputs && layer)
        return status_fail(STATUS_INPUT, "%s: %s takes %zu channels, but the layer before gives %zu", path, name, weight->size[1], *inputs);
    /* The linear layer may see the last channels at several places: a multiple of them. */
    if (!layer && weight->size[1] % *inputs != 0)
        return status_fail(STATUS_INPUT, "%s: %s takes %zu inputs, no multiple of the last layer's %zu channels", path, name, weight->size[1], *inputs);
    for (int i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].layered != (layer > 0) || kinds[i].rank != 1)
            continue;
        name_array(&kinds[i], layer, name);
        const struct dataset_array *array = dataset_init_find(init, name);
        if (array && array->size[0] != weight->size[0])
            return status_fail(STATUS_INPUT, "%s: %s has %zu elements, but its layer has %zu outputs", path, name, array->size[0], weight->size[0]);
    }
    *inputs = weight->size[0];
    return STATUS_OK;
}

struct strays {
    const char *path;
    const struct dataset_init *init;
    enum status status;
};

static herr_t check_known(hid_t file, const char *name, const H5L_info_t *info, void *context)
{
    struct strays *strays = context;
    (void)file, (void)info;
    if (strstr(name, ".num_batches_tracked")) /* PyTorch's counter, which a momentum of a fixed size does not use */
        return 0;
    if (!dataset_init_find(strays->init, name))
        strays->status = status_fail(STATUS_INPUT, "%s: %s is no array of initial weights (conv1.weight ... linear.bias, layers without a gap)",
                                     strays->path, name);
    return strays->status ? -1 : 0;
}

static enum status check_strays(hid_t file, const char *path, const struct dataset_init *init)
{
    struct strays strays = {path, init, STATUS_OK};
    hsize_t at = 0;
    if (H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, &at, check_known, &strays) < 0 && !strays.status)
        return h5_fail(STATUS_CORRUPT, "%s: cannot list its arrays", path);
    return strays.status;
}

enum status dataset_init_read(const char *path, struct dataset_init *out)
{
    hid_t file;
    size_t inputs = 0;
    char name[DATASET_NAME_SIZE] = "conv1.weight";
    *out = (struct dataset_init){0};
    enum status status = h5_open(path, false, &file);
    if (status)
        return status;
    for (int layer = 1; !status && (layer == 1 || H5Lexists(file, name, H5P_DEFAULT) > 0);) {
        status = read_layer(file, path, layer, out);
        if (!status)
            status = check_layer(path, layer, &inputs, out);
        snprintf(name, sizeof name, "conv%d.weight", ++layer);
    }
    if (!status)
        status = read_layer(file, path, 0, out);
    if (!status)
        status = check_layer(path, 0, &inputs, out);
    if (!status)
        status = check_strays(file, path, out);
    H5Fclose(file);
    return status;
}

const struct dataset_array *dataset_init_find(const struct dataset_init *init, const char *name)
{
    for (size_t i = 0; i < init->count; i++)
        if (strcmp(init->arrays[i].name, name) == 0)
            return &init->arrays[i];
    return NULL;
}

void dataset_init_free(struct dataset_init *init)
{
    for (size_t i = 0; i < init->count; i++)
        mem_free(init->arrays[i].values);
    mem_free(init->arrays);
    *init = (struct dataset_init){0};
}

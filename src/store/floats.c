#include "floats_internal.h"

#include "bnsweep/base/mem.h"

#include <math.h>

static enum status check_shape(struct floats *array, int rank)
{
    hsize_t size[H5S_MAX_RANK];
    hid_t space = H5Dget_space(array->dataset);
    int found = H5Sget_simple_extent_ndims(space);
    if (found > 0)
        H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    if (rank > 0 && found != rank)
        return status_fail(STATUS_INPUT, "%s: %s has %d axes, %d are needed", array->path, array->name, found, rank);
    if (found < 1 || found > LAYOUT_MAX_RANK)
        return status_fail(STATUS_INPUT, "%s: %s has %d axes, 1 to %d are allowed", array->path, array->name, found, LAYOUT_MAX_RANK);
    array->rank = found;
    array->total = 1;
    for (int i = 0; i < found; i++) {
        array->size[i] = size[i];
        if (size[i] == 0)
            return status_fail(STATUS_INPUT, "%s: %s is empty (axis %d has length 0)", array->path, array->name, i);
        if (!mem_multiply(&array->total, size[i]))
            return status_fail(STATUS_INPUT, "%s: %s is too large", array->path, array->name);
    }
    return STATUS_OK;
}

enum status floats_open(hid_t file, const char *path, const char *name, int rank, H5T_class_t class, struct floats *out)
{
    *out = (struct floats){.path = path, .name = name, .dataset = -1};
    if (H5Lexists(file, name, H5P_DEFAULT) > 0)
        out->dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (out->dataset < 0)
        return h5_fail(STATUS_INPUT, "%s: there is no array %s", path, name);
    hid_t type = H5Dget_type(out->dataset);
    H5T_class_t found = H5Tget_class(type);
    H5Tclose(type);
    if (found != class)
        return status_fail(STATUS_INPUT, "%s: %s does not hold %s", path, name, class == H5T_FLOAT ? "floating-point numbers" : "integers");
    return check_shape(out, rank);
}

enum status floats_read(const struct floats *array, float **out)
{
    *out = mem_array(array->total, sizeof **out);
    if (!*out)
        return status_context(STATUS_NOMEM, "%s: %s", array->path, array->name);
    enum status status = status_context(h5_read(array->dataset, array->name, H5T_NATIVE_FLOAT, NULL, *out), "%s", array->path);
    for (size_t i = 0; !status && i < array->total; i++)
        if (!isfinite((*out)[i]))
            status = status_fail(STATUS_INPUT, "%s: %s has %g at element %zu; numbers must be finite", array->path, array->name, (double)(*out)[i], i);
    return status;
}

enum status floats_read_labels(const struct floats *array, int32_t **out)
{
    *out = mem_array(array->total, sizeof **out);
    int64_t *wide = mem_array(array->total, sizeof *wide);
    if (!*out || !wide) {
        mem_free(wide);
        return status_context(STATUS_NOMEM, "%s: %s", array->path, array->name);
    }
    enum status status = status_context(h5_read(array->dataset, array->name, H5T_NATIVE_INT64, NULL, wide), "%s", array->path);
    for (size_t i = 0; !status && i < array->total; i++) {
        if (wide[i] < 0 || wide[i] >= INT32_MAX)
            status = status_fail(STATUS_INPUT, "%s: %s has the label %lld at element %zu; labels count from 0", array->path, array->name, (long long)wide[i], i);
        (*out)[i] = (int32_t)wide[i];
    }
    mem_free(wide);
    return status;
}

void floats_close(struct floats *array)
{
    if (array->dataset >= 0)
        H5Dclose(array->dataset);
    array->dataset = -1;
}

#include "h5_text_internal.h"

#include "bnsweep/base/mem.h"

#include <string.h>

hid_t h5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static struct h5_slab rows(hsize_t first, size_t count)
{
    return (struct h5_slab){.rank = 1, .start = {first}, .count = {count}};
}

static enum status copy_texts(size_t count, char *const *texts, char **out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = mem_text(texts[i] ? texts[i] : "");
        if (!out[i])
            return STATUS_NOMEM;
    }
    return STATUS_OK;
}

enum status h5_text_read(hid_t dataset, const char *name, hsize_t first, size_t count, char **out)
{
    struct h5_slab slab = rows(first, count);
    char **texts = mem_array(count, sizeof *texts); /* HDF5's own strings */
    if (!texts)
        return STATUS_NOMEM;
    for (size_t i = 0; i < count; i++)
        out[i] = NULL;
    hid_t type = h5_text_type(), space = H5Screate_simple(1, slab.count, NULL);
    enum status status = count ? h5_read(dataset, name, type, &slab, texts) : STATUS_OK;
    if (!status) {
        status = copy_texts(count, texts, out);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    }
    for (size_t i = 0; status && i < count; i++) {
        mem_free(out[i]);
        out[i] = NULL;
    }
    H5Sclose(space);
    H5Tclose(type);
    mem_free(texts);
    return status;
}

enum status h5_text_write(hid_t dataset, const char *name, hsize_t first, size_t count, const char *const *texts)
{
    struct h5_slab slab = rows(first, count);
    hid_t type = h5_text_type();
    enum status status = h5_write(dataset, name, type, &slab, texts);
    H5Tclose(type);
    return status;
}

enum status h5_text_put(hid_t object, const char *name, const char *text)
{
    hid_t type = h5_text_type(), space = H5Screate(H5S_SCALAR);
    if (h5_has(object, name))
        H5Adelete(object, name);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    enum status status = STATUS_OK;
    if (attribute < 0 || H5Awrite(attribute, type, &text) < 0)
        status = h5_fail(STATUS_IO, "cannot write the attribute %s", name);
    if (attribute >= 0 && H5Aclose(attribute) < 0 && !status)
        status = h5_fail(STATUS_IO, "cannot write the attribute %s", name);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

enum status h5_text_get(hid_t object, const char *name, char **out)
{
    char *text = NULL;
    *out = NULL;
    if (!h5_has(object, name))
        return status_fail(STATUS_CORRUPT, "there is no attribute %s", name);
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), stored = attribute < 0 ? -1 : H5Aget_type(attribute);
    hid_t type = h5_text_type(), space = attribute < 0 ? -1 : H5Aget_space(attribute);
    enum status status = STATUS_OK;
    if (stored < 0 || H5Tis_variable_str(stored) <= 0 || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, type, &text) < 0)
        status = h5_fail(STATUS_CORRUPT, "cannot read the attribute %s as a text", name);
    else if (!(*out = mem_text(text ? text : "")))
        status = STATUS_NOMEM;
    H5free_memory(text);
    H5Tclose(type);
    if (stored >= 0)
        H5Tclose(stored);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return status;
}

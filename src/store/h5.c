#include "h5_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CAUSE_SIZE = 512, NAME_SIZE = 1024, CACHE_BYTES = 4 << 20, CACHE_SLOTS = 1009, CONVERSION_BYTES = 16 << 10 };

static herr_t remember_first(unsigned n, const H5E_error2_t *error, void *cause)
{
    if (n == 0) /* walking upward, the first is the cause and the rest its callers */
        snprintf(cause, CAUSE_SIZE, "%s", error->desc ? error->desc : "");
    return 0;
}

enum status h5_fail(enum status code, const char *format, ...)
{
    char cause[CAUSE_SIZE] = "", text[CAUSE_SIZE];
    va_list arguments;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, remember_first, cause);
    H5Eclear2(H5E_DEFAULT);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *at = cause; (at = strchr(at, '\n'));) /* some of HDF5's messages have the time in them, with its line end */
        *at = ' ';
    return status_fail(code, "%s%s%s", text, *cause ? ": " : "", cause);
}

static hid_t access_list(void)
{
    /* First of all calls: HDF5 1.10's clean-up at exit crashes over a file that a full disk kept it from closing. We close
     * all we open, and need none. */
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(list, false, true);
    H5Pset_fclose_degree(list, H5F_CLOSE_SEMI);
    /* The largest chunk (512 KiB) of a variable fits several times: one that is filled record by record stays in memory. */
    H5Pset_cache(list, 0, CACHE_SLOTS, CACHE_BYTES, 1.0);
    return list;
}

/* Say what a file is that HDF5 does not open. */
static enum status fail_open(const char *path)
{
    struct stat info;
    uint8_t start[8] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info)) {
        enum status status = status_fail(errno == ENOENT ? STATUS_INPUT : STATUS_IO, "cannot open %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    ssize_t got = pread(fd, start, sizeof start, 0);
    close(fd);
    if (!S_ISREG(info.st_mode))
        return status_fail(STATUS_INPUT, "%s is no file", path);
    if (got == sizeof start && memcmp(start, "\211HDF\r\n\032\n", sizeof start) == 0)
        return h5_fail(STATUS_CORRUPT, "%s is a damaged or truncated HDF5 file", path);
    return status_fail(STATUS_INPUT, "%s is no HDF5 file (%lld bytes)", path, (long long)info.st_size);
}

enum status h5_open(const char *path, bool read_write, hid_t *out)
{
    hid_t list = access_list();
    *out = H5Fopen(path, read_write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, list);
    enum status status = *out < 0 ? fail_open(path) : STATUS_OK; /* before HDF5's next call, which forgets the cause */
    H5Pclose(list);
    return status;
}

enum status h5_create(const char *path, hid_t *out)
{
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    hid_t list = access_list(), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_link_creation_order(creation, order);
    H5Pset_attr_creation_order(creation, order);
    *out = H5Fcreate(path, H5F_ACC_TRUNC, creation, list);
    enum status status = *out < 0 ? h5_fail(STATUS_IO, "cannot create %s", path) : STATUS_OK;
    H5Pclose(creation);
    H5Pclose(list);
    return status;
}

enum status h5_close(hid_t file, const char *path)
{
    if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0) {
        enum status status = h5_fail(STATUS_IO, "cannot write %s", path);
        H5Fclose(file);
        return status;
    }
    return H5Fclose(file) < 0 ? h5_fail(STATUS_IO, "cannot close %s", path) : STATUS_OK;
}

static hid_t creation_list(hid_t file_type, const struct h5_shape *shape, const double *fill)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    if (shape->chunk[0] > 0) {
        H5Pset_chunk(list, shape->rank, shape->chunk);
        if (H5Tget_class(file_type) != H5T_STRING) /* HDF5 has no checksum for variable-length text */
            H5Pset_fletcher32(list);
    }
    if (fill)
        H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, fill);
    return list;
}

enum status h5_create_dataset(hid_t file, const char *name, hid_t file_type, const struct h5_shape *shape,
                              const double *fill, hid_t *out)
{
    hsize_t limit[LAYOUT_MAX_RANK];
    memcpy(limit, shape->size, sizeof limit);
    if (shape->grows)
        limit[0] = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(shape->rank, shape->size, limit), list = creation_list(file_type, shape, fill);
    *out = H5Dcreate2(file, name, file_type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    enum status status = *out < 0 ? h5_fail(STATUS_IO, "cannot create the variable %s", name) : STATUS_OK;
    H5Pclose(list);
    H5Sclose(space);
    return status;
}

enum status h5_open_dataset(hid_t file, const char *name, hid_t *out)
{
    *out = H5Dopen2(file, name, H5P_DEFAULT);
    return *out < 0 ? h5_fail(STATUS_CORRUPT, "there is no variable %s", name) : STATUS_OK;
}

enum status h5_open_in_order(hid_t file, const char *name, size_t chunk_bytes, hid_t *out)
{
    enum { CHUNKS = 2, SLOTS = 13 };
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(list, SLOTS, CHUNKS * chunk_bytes, 1.0);
    *out = H5Dopen2(file, name, list);
    H5Pclose(list);
    return *out < 0 ? h5_fail(STATUS_CORRUPT, "there is no variable %s", name) : STATUS_OK;
}

enum status h5_close_dataset(hid_t dataset, const char *name, enum status status)
{
    if (H5Dclose(dataset) < 0 && !status)
        status = h5_fail(STATUS_IO, "cannot write the variable %s", name);
    return status;
}

herr_t h5_each_variable(hid_t file, H5_index_t index, herr_t (*visit)(hid_t file, const char *name, void *context), void *context)
{
    H5G_info_t info;
    if (H5Gget_info(file, &info) < 0)
        return -1;
    for (hsize_t i = 0; i < info.nlinks; i++) {
        char name[NAME_SIZE];
        ssize_t size = H5Lget_name_by_idx(file, ".", index, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        herr_t result = size < 0 ? -1 : visit(file, name, context);
        if (result)
            return result;
    }
    return 0;
}

int h5_sizes(hid_t dataset, hsize_t size[LAYOUT_MAX_RANK])
{
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    if (rank > LAYOUT_MAX_RANK)
        rank = -1;
    else
        H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    return rank;
}

/* HDF5 clears the whole conversion buffer in each call that converts, and takes 1 MiB where nothing is said. Kept for good. */
static hid_t transfer_list(void)
{
    static hid_t list = -1;
    if (list < 0) {
        list = H5Pcreate(H5P_DATASET_XFER);
        H5Pset_buffer(list, CONVERSION_BYTES, NULL, NULL);
    }
    return list;
}

/* Open the memory and file spaces of a slab. */
static void open_spaces(hid_t dataset, const struct h5_slab *slab, hid_t *memory, hid_t *file)
{
    *memory = *file = H5S_ALL;
    if (!slab)
        return;
    *memory = H5Screate_simple(slab->rank, slab->count, NULL);
    *file = H5Dget_space(dataset);
    H5Sselect_hyperslab(*file, H5S_SELECT_SET, slab->start, NULL, slab->count, NULL);
}

static void close_spaces(hid_t memory, hid_t file)
{
    if (memory != H5S_ALL)
        H5Sclose(memory);
    if (file != H5S_ALL)
        H5Sclose(file);
}

enum status h5_read(hid_t dataset, const char *name, hid_t type, const struct h5_slab *slab, void *out)
{
    hid_t memory, file;
    open_spaces(dataset, slab, &memory, &file);
    enum status status = STATUS_OK;
    if (H5Dread(dataset, type, memory, file, transfer_list(), out) < 0)
        status = h5_fail(STATUS_CORRUPT, "cannot read the variable %s", name);
    close_spaces(memory, file);
    return status;
}

enum status h5_write(hid_t dataset, const char *name, hid_t type, const struct h5_slab *slab, const void *values)
{
    hid_t memory, file;
    open_spaces(dataset, slab, &memory, &file);
    enum status status = STATUS_OK;
    if (H5Dwrite(dataset, type, memory, file, transfer_list(), values) < 0)
        status = h5_fail(STATUS_IO, "cannot write the variable %s", name);
    close_spaces(memory, file);
    return status;
}

bool h5_has(hid_t object, const char *name)
{
    return H5Aexists(object, name) > 0;
}

enum status h5_put(hid_t object, const char *name, hid_t type, const void *numbers, size_t count)
{
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    if (h5_has(object, name))
        H5Adelete(object, name);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    enum status status = STATUS_OK;
    if (attribute < 0 || H5Awrite(attribute, type, numbers) < 0)
        status = h5_fail(STATUS_IO, "cannot write the attribute %s", name);
    if (attribute >= 0 && H5Aclose(attribute) < 0 && !status)
        status = h5_fail(STATUS_IO, "cannot write the attribute %s", name);
    H5Sclose(space);
    return status;
}

enum status h5_get(hid_t object, const char *name, int64_t *out)
{
    if (!h5_has(object, name))
        return status_fail(STATUS_CORRUPT, "there is no attribute %s", name);
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), space = attribute < 0 ? -1 : H5Aget_space(attribute);
    enum status status = STATUS_OK;
    if (space < 0 || H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, H5T_NATIVE_INT64, out) < 0)
        status = h5_fail(STATUS_CORRUPT, "cannot read the attribute %s as a number", name);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return status;
}

#include "fixture.h"

#include "bnsweep/store/dataset.h"

#include <setjmp.h>
#include <stdbool.h>

#include <cmocka.h>
#include <hdf5.h>

struct folder {
    char path[64], file[128];
};

static int setup(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    fixture_folder(folder->path);
    snprintf(folder->file, sizeof folder->file, "%s/data.h5", folder->path);
    *state = folder;
    return 0;
}

static int teardown(void **state)
{
    struct folder *folder = *state;
    fixture_remove(folder->path);
    free(folder);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    return 0;
}

/* One array to write: floats from `values` or, if it is NULL, 0.5, 1.5, ...; integers from `labels`. */
struct array {
    const char *name;
    int rank;
    hsize_t size[5];
    const float *values;
    const int32_t *labels;
};

static void write_file(const char *path, const struct array *arrays, size_t count)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    float counting[512];
    for (int i = 0; i < 512; i++)
        counting[i] = (float)i + 0.5f;
    for (size_t i = 0; i < count; i++) {
        const struct array *array = &arrays[i];
        hid_t type = array->labels ? H5T_NATIVE_INT32 : H5T_NATIVE_FLOAT, space = H5Screate_simple(array->rank, array->size, NULL);
        hid_t dataset = H5Dcreate2(file, array->name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const void *values = array->labels ? (const void *)array->labels : array->values ? array->values : counting;
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Fclose(file);
}

static const int32_t LABELS[] = {0, 3, 1}, MORE_LABELS[] = {2, 5}, BAD_LABELS[] = {1, -1};

static void good(struct array out[4])
{
    out[0] = (struct array){"train_x", 4, {3, 2, 4, 5}, NULL, NULL};
    out[1] = (struct array){"train_y", 1, {3}, NULL, LABELS};
    out[2] = (struct array){"val_x", 4, {2, 2, 4, 5}, NULL, NULL};
    out[3] = (struct array){"val_y", 1, {2}, NULL, MORE_LABELS};
}

static void test_reads_images(void **state)
{
    struct folder *folder = *state;
    struct array arrays[4];
    struct dataset dataset;
    struct dataset_shape shape;
    good(arrays);
    write_file(folder->file, arrays, 4);
    assert_int_equal(dataset_shape(folder->file, &shape), STATUS_OK);
    assert_true(shape.train_count == 3 && shape.val_count == 2 && shape.channels == 2 && shape.height == 4 && shape.width == 5 && shape.classes == 6);
    assert_int_equal(dataset_read(folder->file, &dataset), STATUS_OK);
    assert_memory_equal(&dataset.shape, &shape, sizeof shape);
    assert_true(dataset.train_x[119] == 119.5f && dataset.val_x[79] == 79.5f && dataset.train_y[1] == 3 && dataset.val_y[1] == 5);
    dataset_free(&dataset);
}

/* Both readings refuse the file, with `text` and the file's name in the message. */
static void expect_refused(const char *path, enum status code, const char *text)
{
    struct dataset dataset;
    assert_int_equal(dataset_read(path, &dataset), code);
    assert_non_null(strstr(status_message(), text));
    assert_non_null(strstr(status_message(), path));
    dataset_free(&dataset);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

static void test_refuses_bad_images(void **state)
{
    struct folder *folder = *state;
    float nan_image[80] = {0}, infinite[120] = {0};
    nan_image[7] = NAN;
    infinite[119] = INFINITY;
    const struct {
        int which;
        struct array array;
        const char *text;
    } cases[] = {
        {0, {"renamed", 4, {3, 2, 4, 5}, NULL, NULL}, "there is no array train_x"},
        {3, {"renamed", 1, {2}, NULL, MORE_LABELS}, "there is no array val_y"},
        {0, {"train_x", 3, {3, 2, 20}, NULL, NULL}, "train_x has 3 axes, 4 are needed"},
        {0, {"train_x", 5, {3, 2, 2, 2, 5}, NULL, NULL}, "train_x has 5 axes"},
        {0, {"train_x", 4, {3, 2, 4, 5}, NULL, (const int32_t[120]){0}}, "train_x does not hold floating-point"},
        {1, {"train_y", 1, {3}, NULL, NULL}, "train_y does not hold integers"},
        {1, {"train_y", 1, {2}, NULL, LABELS}, "3 images, but train_y has 2"},
        {3, {"val_y", 1, {2}, NULL, BAD_LABELS}, "val_y has the label -1 at element 1"},
        {2, {"val_x", 4, {0, 2, 4, 5}, NULL, NULL}, "val_x is empty"},
        {2, {"val_x", 4, {2, 2, 5, 4}, NULL, NULL}, "axis 2 of train_x has length 4, of val_x 5"},
        {2, {"val_x", 4, {2, 2, 4, 5}, nan_image, NULL}, "val_x has nan at element 7"},
        {0, {"train_x", 4, {3, 2, 4, 5}, infinite, NULL}, "train_x has inf at element 119"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct array arrays[4];
        good(arrays);
        arrays[cases[i].which] = cases[i].array;
        write_file(folder->file, arrays, 4);
        expect_refused(folder->file, STATUS_INPUT, cases[i].text);
    }
}

static void test_refuses_other_files(void **state)
{
    struct folder *folder = *state;
    struct array arrays[4];
    size_t size;
    expect_refused(folder->file, STATUS_INPUT, "No such file");
    fixture_save(folder->file, "hello", 5);
    expect_refused(folder->file, STATUS_INPUT, "no HDF5 file (5 bytes)");
    fixture_save(folder->file, "", 0);
    expect_refused(folder->file, STATUS_INPUT, "no HDF5 file (0 bytes)");
    expect_refused(folder->path, STATUS_INPUT, "is no file");
    good(arrays);
    write_file(folder->file, arrays, 4);
    unsigned char *bytes = fixture_load(folder->file, &size);
    fixture_save(folder->file, bytes, size / 2);
    expect_refused(folder->file, STATUS_CORRUPT, "truncated");
    free(bytes);
}

enum { INIT_COUNT = 9 };
static void good_init(struct array out[INIT_COUNT])
{
    out[0] = (struct array){"conv1.weight", 4, {4, 3, 3, 3}, NULL, NULL};
    out[1] = (struct array){"conv1.bias", 1, {4}, NULL, NULL};
    out[2] = (struct array){"norm1.weight", 1, {4}, NULL, NULL};
    out[3] = (struct array){"norm1.running_var", 1, {4}, NULL, NULL};
    out[4] = (struct array){"conv2.weight", 4, {5, 4, 3, 3}, NULL, NULL};
    out[5] = (struct array){"norm2.bias", 1, {5}, NULL, NULL};
    out[6] = (struct array){"norm2.num_batches_tracked", 1, {1}, NULL, LABELS};
    out[7] = (struct array){"linear.weight", 2, {10, 20}, NULL, NULL};
    out[8] = (struct array){"linear.bias", 1, {10}, NULL, NULL};
}

static void test_reads_weights(void **state)
{
    struct folder *folder = *state;
    struct array arrays[INIT_COUNT];
    struct dataset_init init;
    good_init(arrays);
    write_file(folder->file, arrays, INIT_COUNT);
    assert_int_equal(dataset_init_read(folder->file, &init), STATUS_OK);
    assert_int_equal(init.count, INIT_COUNT - 1);
    const struct dataset_array *weight = dataset_init_find(&init, "conv2.weight");
    assert_true(weight && weight->rank == 4 && weight->size[0] == 5 && weight->size[1] == 4 && weight->values[179] == 179.5f);
    assert_null(dataset_init_find(&init, "norm1.bias"));
    assert_int_equal(dataset_init_find(&init, "linear.bias")->size[0], 10);
    dataset_init_free(&init);
}

static void test_refuses_bad_weights(void **state)
{
    struct folder *folder = *state;
    float nan_bias[10] = {[2] = NAN};
    const struct {
        int which;
        struct array array;
        const char *text;
    } cases[] = {
        {0, {"conv0.weight", 4, {4, 3, 3, 3}, NULL, NULL}, "there is no array conv1.weight"},
        {0, {"conv1.weight", 3, {4, 3, 9}, NULL, NULL}, "conv1.weight has 3 axes, 4 are needed"},
        {1, {"conv1.bias", 1, {3}, NULL, NULL}, "conv1.bias has 3 elements, but its layer has 4 outputs"},
        {3, {"norm1.running_var", 1, {5}, NULL, NULL}, "norm1.running_var has 5 elements"},
        {4, {"conv2.weight", 4, {5, 3, 3, 3}, NULL, NULL}, "conv2.weight takes 3 channels, but the layer before gives 4"},
        {4, {"conv3.weight", 4, {5, 4, 3, 3}, NULL, NULL}, "is no array of initial weights"},
        {5, {"stray", 1, {5}, NULL, NULL}, "stray is no array of initial weights"},
        {7, {"linear.weight", 2, {10, 21}, NULL, NULL}, "no multiple of the last layer's 5 channels"},
        {7, {"linear.weight", 2, {9, 20}, NULL, NULL}, "linear.bias has 10 elements, but its layer has 9"},
        {8, {"linear.bias", 1, {10}, nan_bias, NULL}, "linear.bias has nan at element 2"},
        {8, {"linear.offset", 1, {10}, NULL, NULL}, "there is no array linear.bias"},
        {8, {"linear.bias", 1, {3}, NULL, LABELS}, "linear.bias does not hold floating-point"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct array arrays[INIT_COUNT];
        struct dataset_init init;
        good_init(arrays);
        arrays[cases[i].which] = cases[i].array;
        if (cases[i].which == 4 && strcmp(cases[i].array.name, "conv3.weight") == 0)
            arrays[7].size[1] = 4;
        write_file(folder->file, arrays, INIT_COUNT);
        assert_int_equal(dataset_init_read(folder->file, &init), STATUS_INPUT);
        if (!strstr(status_message(), cases[i].text))
            fail_msg("\"%s\" instead of \"%s\"", status_message(), cases[i].text);
        assert_non_null(strstr(status_message(), folder->file));
        dataset_init_free(&init);
        assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    }
}

int main(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_images, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses_bad_images, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses_other_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reads_weights, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses_bad_weights, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

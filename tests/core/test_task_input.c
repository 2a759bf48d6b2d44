/* Data that a task refuses, and what it says of them. */
#include "numbers.h"

#include "bnsweep/core/task.h"

enum { IMAGE = 2 * 3 * 3, TRAIN = 8, VAL = 4 };

static float train_x[TRAIN * IMAGE], val_x[VAL * IMAGE];
static int32_t train_y[TRAIN], val_y[VAL];
static struct task_images images;
static struct task_config config;

static int prepare(void **state)
{
    (void)state;
    memset(train_x, 0, sizeof train_x);
    memset(val_x, 0, sizeof val_x);
    memset(train_y, 0, sizeof train_y);
    memset(val_y, 0, sizeof val_y);
    images = (struct task_images){2, 3, 3, TRAIN, VAL, train_x, val_x, train_y, val_y};
    config = (struct task_config){.data = DATA_FILE, .classes = 3, .image_channels = 2, .image_h = 3, .image_w = 3,
                                  .images = &images, .batch = 4, .val_size = VAL};
    return 0;
}

static void refuse(enum status code, const char *text)
{
    struct arena arena = {0};
    struct task task;
    assert_fails(code, text, task_create(&task, &config, &arena));
    arena_free(&arena);
}

static void accept(void)
{
    struct arena arena = {0};
    struct task task;
    assert_ok(task_create(&task, &config, &arena));
    arena_free(&arena);
}

static void images_that_do_not_fit(void **state)
{
    (void)state;
    accept();
    images.channels = 1;
    refuse(STATUS_INPUT, "the images are 1x3x3, the network takes 2x3x3");
    images.channels = 2;
    images.w = 4;
    refuse(STATUS_INPUT, "the images are 2x3x4, the network takes 2x3x3");
    images.w = 3;
    config.batch = TRAIN + 1;
    refuse(STATUS_INPUT, "8 training images do not fill one batch of 9");
    config.batch = TRAIN;
    accept();
    config.val_size = VAL + 1;
    refuse(STATUS_INPUT, "val_size = 5, but the file holds 4 validation images");
}

static void labels_out_of_range(void **state)
{
    (void)state;
    train_y[5] = 3;
    refuse(STATUS_INPUT, "train_y[5] is 3; labels go from 0 to 2");
    train_y[5] = -1;
    refuse(STATUS_INPUT, "train_y[5] is -1; labels go from 0 to 2");
    train_y[5] = 2;
    val_y[3] = INT32_MAX;
    refuse(STATUS_INPUT, "val_y[3] is 2147483647");
    config.val_size = 3; /* then the fourth is not looked at */
    accept();
}

static void pixels_that_are_not_finite(void **state)
{
    (void)state;
    train_x[3 * IMAGE + 5] = NAN;
    refuse(STATUS_INPUT, "train_x holds nan in image 3");
    train_x[3 * IMAGE + 5] = -INFINITY;
    refuse(STATUS_INPUT, "train_x holds -inf in image 3");
    train_x[3 * IMAGE + 5] = 0;
    val_x[2 * IMAGE] = INFINITY;
    refuse(STATUS_INPUT, "val_x holds inf in image 2");
}

static void sizes_of_zero_or_too_large(void **state)
{
    (void)state;
    for (int data = DATA_TEMPLATES; data <= DATA_FILE; data++) {
        size_t *const sizes[] = {&config.image_channels, &config.image_h, &config.image_w, &config.batch, &config.val_size};
        config.data = (enum data_kind)data;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t kept = *sizes[i];
            *sizes[i] = 0;
            refuse(STATUS_SHAPE, "no size may be 0 or too large");
            *sizes[i] = kept;
        }
        config.image_h = SIZE_MAX;
        refuse(STATUS_SHAPE, "no size may be 0 or too large");
        config.image_h = 3;
        config.val_size = SIZE_MAX / 2;
        refuse(STATUS_SHAPE, "no size may be 0 or too large");
        config.val_size = VAL;
    }
    config.data = DATA_TEMPLATES;
    config.classes = SIZE_MAX / 2;
    refuse(STATUS_SHAPE, "templates of 18 values are too many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(images_that_do_not_fit, prepare),
        cmocka_unit_test_setup(labels_out_of_range, prepare),
        cmocka_unit_test_setup(pixels_that_are_not_finite, prepare),
        cmocka_unit_test_setup(sizes_of_zero_or_too_large, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

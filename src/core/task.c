#include "bnsweep/core/task.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/core/rng.h"

#include <math.h>
#include <string.h>

enum { IMAGES_AT_ONCE = 4 }; /* a multiple of 4 values, as rng_normals wants */

/* x[n] = signal template[y] + noise z; image i takes the stream's normals from i * image_size on. */
static void templates_images(struct task *task, struct rng_stream stream, size_t n, const int32_t *y, real *x)
{
    size_t size = task->image_size;
    float signal = (float)task->config.signal, noise = (float)task->config.noise;
    for (size_t i = 0; i < n; i += IMAGES_AT_ONCE) {
        size_t here = n - i < IMAGES_AT_ONCE ? n - i : IMAGES_AT_ONCE;
        rng_normals(stream, (uint64_t)i * size, here * size, task->noise);
        for (size_t j = 0; j < here; j++) {
            const float *template = task->templates + (size_t)y[i + j] * size, *z = task->noise + j * size;
            real *to = x + (i + j) * size;
            for (size_t k = 0; k < size; k++)
                to[k] = (real)(signal * template[k] + noise * z[k]);
        }
    }
}

/* Image from [c][h][w] to [h][w][c]. */
static void to_channels_last(const struct task_images *images, const float *from, real *to)
{
    size_t pixels = images->h * images->w, c = images->channels;
    for (size_t p = 0; p < pixels; p++)
        for (size_t j = 0; j < c; j++)
            to[p * c + j] = (real)from[j * pixels + p];
}

static enum status check_set(const char *set, size_t n, size_t image_size, size_t classes, const float *x, const int32_t *y)
{
    for (size_t i = 0; i < n; i++)
        if (y[i] < 0 || (size_t)y[i] >= classes)
            return status_fail(STATUS_INPUT, "%s_y[%zu] is %d; labels go from 0 to %zu", set, i, y[i], classes - 1);
    for (size_t i = 0; i < n * image_size; i++)
        if (!isfinite(x[i]))
            return status_fail(STATUS_INPUT, "%s_x holds %g in image %zu", set, (double)x[i], i / image_size);
    return STATUS_OK;
}

static enum status check_images(const struct task_config *config, size_t size)
{
    const struct task_images *images = config->images;
    if (images->channels != config->image_channels || images->h != config->image_h || images->w != config->image_w)
        return status_fail(STATUS_INPUT, "the images are %zux%zux%zu, the network takes %zux%zux%zu", images->channels, images->h,
                           images->w, config->image_channels, config->image_h, config->image_w);
    if (images->train_n < config->batch)
        return status_fail(STATUS_INPUT, "%zu training images do not fill one batch of %zu", images->train_n, config->batch);
    if (images->val_n < config->val_size)
        return status_fail(STATUS_INPUT, "val_size = %zu, but the file holds %zu validation images", config->val_size, images->val_n);
    enum status status = check_set("train", images->train_n, size, config->classes, images->train_x, images->train_y);
    return status ? status : check_set("val", config->val_size, size, config->classes, images->val_x, images->val_y);
}

static enum status create_templates(struct task *task, struct arena *arena)
{
    const struct task_config *config = &task->config;
    size_t count = config->classes;
    if (!mem_multiply(&count, task->image_size))
        return status_fail(STATUS_SHAPE, "%zu templates of %zu values are too many", config->classes, task->image_size);
    task->templates = arena_array(arena, count, sizeof(float));
    task->noise = arena_array(arena, task->image_size, IMAGES_AT_ONCE * sizeof(float));
    if (!task->templates || !task->noise)
        return STATUS_NOMEM;
    rng_normals((struct rng_stream){config->task_seed, RNG_TEMPLATE, 0}, 0, count, task->templates);
    rng_integers((struct rng_stream){config->task_seed, RNG_VAL_LABEL, 0}, (uint32_t)config->classes, config->val_size, task->val_y);
    templates_images(task, (struct rng_stream){config->task_seed, RNG_VAL_NOISE, 0}, config->val_size, task->val_y, task->val_x);
    return STATUS_OK;
}

static enum status create_file(struct task *task, struct arena *arena)
{
    const struct task_images *images = task->config.images;
    enum status status = check_images(&task->config, task->image_size);
    if (status)
        return status;
    task->order = arena_array(arena, images->train_n, sizeof *task->order);
    if (!task->order)
        return STATUS_NOMEM;
    for (size_t i = 0; i < task->config.val_size; i++)
        to_channels_last(images, images->val_x + i * task->image_size, task->val_x + i * task->image_size);
    memcpy(task->val_y, images->val_y, task->config.val_size * sizeof *task->val_y);
    return STATUS_OK;
}

/* How many values an image and the validation set have. */
static enum status count_values(const struct task_config *config, size_t *image, size_t *val)
{
    *image = config->image_channels;
    *val = config->val_size;
    if (!mem_multiply(image, config->image_h) || !mem_multiply(image, config->image_w) || !*image ||
        !mem_multiply(val, *image) || !config->batch || !config->val_size)
        return status_fail(STATUS_SHAPE, "%zu validation images of %zux%zux%zu, batches of %zu: no size may be 0 or too large",
                           config->val_size, config->image_channels, config->image_h, config->image_w, config->batch);
    return STATUS_OK;
}

enum status task_check(const struct task_config *config)
{
    size_t image, val;
    enum status status = count_values(config, &image, &val);
    return status || config->data == DATA_TEMPLATES ? status : check_images(config, image);
}

enum status task_create(struct task *task, const struct task_config *config, struct arena *arena)
{
    size_t val_values;
    *task = (struct task){.config = *config};
    enum status status = count_values(config, &task->image_size, &val_values);
    if (status)
        return status;
    task->val_x = arena_array(arena, val_values, sizeof(real));
    task->val_y = arena_array(arena, config->val_size, sizeof *task->val_y);
    if (!task->val_x || !task->val_y)
        return STATUS_NOMEM;
    return config->data == DATA_TEMPLATES ? create_templates(task, arena) : create_file(task, arena);
}

static void shuffle_for(struct task *task, enum task_use use, uint64_t epoch)
{
    if (task->order_valid && task->order_use == use && task->order_epoch == epoch)
        return;
    enum rng_purpose purpose = use == TASK_TRAIN ? RNG_SHUFFLE : RNG_REEST_SHUFFLE;
    rng_permutation((struct rng_stream){task->config.seed, purpose, epoch}, task->config.images->train_n, task->order);
    task->order_valid = true;
    task->order_use = use;
    task->order_epoch = epoch;
}

static void file_batch(struct task *task, enum task_use use, uint64_t index, real *x, int32_t *y)
{
    const struct task_images *images = task->config.images;
    size_t batch = task->config.batch, batches = images->train_n / batch, first = (size_t)(index % batches) * batch;
    if (task->config.order == ORDER_SHUFFLED)
        shuffle_for(task, use, index / batches);
    for (size_t i = 0; i < batch; i++) {
        size_t image = task->config.order == ORDER_SHUFFLED ? task->order[first + i] : first + i;
        to_channels_last(images, images->train_x + image * task->image_size, x + i * task->image_size);
        y[i] = images->train_y[image];
    }
}

void task_batch(struct task *task, enum task_use use, uint64_t index, real *x, int32_t *y)
{
    const struct task_config *config = &task->config;
    if (config->data == DATA_FILE) {
        file_batch(task, use, index, x, y);
        return;
    }
    enum rng_purpose label = use == TASK_TRAIN ? RNG_BATCH_LABEL : RNG_REEST_LABEL;
    enum rng_purpose noise = use == TASK_TRAIN ? RNG_BATCH_NOISE : RNG_REEST_NOISE;
    rng_integers((struct rng_stream){config->seed, label, index}, (uint32_t)config->classes, config->batch, y);
    templates_images(task, (struct rng_stream){config->seed, noise, index}, config->batch, y, x);
}

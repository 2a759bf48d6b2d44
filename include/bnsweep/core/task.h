/* The data: random templates in noise (the task of the experiment), or images from memory. A batch is a pure function of its
 * number, so nothing about data is ever saved. Images come out channels last, x[n][h][w][c]. */
#ifndef BNSWEEP_CORE_TASK_H
#define BNSWEEP_CORE_TASK_H

#include "bnsweep/base/arena.h"
#include "bnsweep/base/status.h"
#include "bnsweep/core/kinds.h"
#include "bnsweep/core/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Images in PyTorch's layout, x[n][c][h][w], and labels from 0; not owned, must outlive the task. */
struct task_images {
    size_t channels, h, w, train_n, val_n;
    const float *train_x, *val_x;
    const int32_t *train_y, *val_y;
};

struct task_config {
    enum data_kind data;
    /* templates: x = signal template[y] + noise z, z standard normal a pixel, y uniform */
    double noise, signal;
    size_t classes, image_channels, image_h, image_w; /* with data = file: must be the file's */
    uint32_t seed;      /* of batches and shuffles */
    uint32_t task_seed; /* of the templates and the validation set */
    /* file */
    enum order_kind order;
    const struct task_images *images;
    size_t batch, val_size; /* val_size: the first so many validation images of a file */
};

/* Which batches: those trained on, or those that re-estimate statistics (fresh ones for templates; for files the same images,
 * in file order or in a shuffle of their own). */
enum task_use { TASK_TRAIN, TASK_REESTIMATE };

struct task {
    struct task_config config;
    size_t image_size;  /* values an image */
    float *templates;   /* [classes][image_size]; owned by the arena, as all below */
    float *noise;       /* workspace */
    uint32_t *order;    /* [train_n], of shuffle `order_use`, `order_epoch` */
    uint64_t order_epoch;
    enum task_use order_use;
    bool order_valid;
    real *val_x;        /* [val_size][h][w][c] */
    int32_t *val_y;     /* [val_size] */
};

/* Check a configuration, and with data = file every image and label of it. STATUS_SHAPE for sizes of 0 or too large; STATUS_INPUT
 * naming what does not fit: too few images for one batch or for val_size, a label outside 0 .. classes-1, a pixel that is not finite. */
enum status task_check(const struct task_config *config);

/* Make the task and its validation set. STATUS_NOMEM, and what task_check says. */
enum status task_create(struct task *task, const struct task_config *config, struct arena *arena);

/* Write batch number `index`: x[batch][h][w][c], y[batch]. An epoch of a file is train_n / batch whole batches; the rest is left out. */
void task_batch(struct task *task, enum task_use use, uint64_t index, real *x, int32_t *y);

#endif

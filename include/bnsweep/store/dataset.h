/* Reads images and labels, and initial weights, from HDF5 files that others made. */
#ifndef BNSWEEP_STORE_DATASET_H
#define BNSWEEP_STORE_DATASET_H

#include "bnsweep/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* The sizes of a data file. Classes: the largest label of both parts + 1. */
struct dataset_shape {
    size_t train_count, val_count, channels, height, width, classes;
};

struct dataset {
    struct dataset_shape shape;
    float *train_x, *val_x;     /* [count][channels][height][width] owned, finite */
    int32_t *train_y, *val_y;   /* [count] owned, in [0, classes) */
};

/* Read only the sizes (and the labels, for the number of classes) of a file with train_x [n,c,h,w], train_y [n], val_x, val_y.
 * STATUS_INPUT naming file and variable: missing, wrong rank, type, size or label. STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM. */
enum status dataset_shape(const char *path, struct dataset_shape *out);

/* Read it all; each value is checked. Errors as dataset_shape; free with dataset_free also on failure. */
enum status dataset_read(const char *path, struct dataset *out);

void dataset_free(struct dataset *dataset);

enum { DATASET_NAME_SIZE = 64, DATASET_MAX_RANK = 4 };

/* One array of initial weights, in C order and PyTorch's layout. */
struct dataset_array {
    char name[DATASET_NAME_SIZE]; /* "conv1.weight" */
    int rank;
    size_t size[DATASET_MAX_RANK];
    float *values; /* owned, finite */
};

struct dataset_init {
    struct dataset_array *arrays; /* owned; layer by layer, the linear one last */
    size_t count;
};

/* Read initial weights: convN.weight [out,in,kh,kw], N = 1, 2, ...; optional convN.bias [out], normN.weight, normN.bias, normN.running_mean,
 * normN.running_var [out]; linear.weight [classes,in], linear.bias [classes]. Each layer's in must be the out before it.
 * STATUS_INPUT naming file and array; STATUS_CORRUPT, STATUS_IO, STATUS_NOMEM. Free with dataset_init_free also on failure. */
enum status dataset_init_read(const char *path, struct dataset_init *out);

/* Return the array of that name, NULL where there is none; owned by `init`. */
const struct dataset_array *dataset_init_find(const struct dataset_init *init, const char *name);

void dataset_init_free(struct dataset_init *init);

#endif

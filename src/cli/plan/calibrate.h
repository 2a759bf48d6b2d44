/* How fast this machine trains and evaluates, and what memory that takes: a short measurement of the real engine. */
#ifndef BNSWEEP_CLI_CALIBRATE_H
#define BNSWEEP_CLI_CALIBRATE_H

#include "bnsweep/base/status.h"
#include "bnsweep/sweep/settings.h"

/* Processor seconds. An image's are for one multiply-add of its convolutions (calibrate_work). */
struct calibrate_speed {
    double step;       /* a step, beside what grows with its images: optimizer, cosines, averages */
    double forward;    /* an image in a training batch, its making included */
    double backward;
    double evaluate;   /* an image in evaluation mode */
    double statistics; /* an image of a set whose statistics are taken */
};

/* Return the multiply-adds of the convolutions for one image. `settings` may be of data = file: then the image is the file's.
 * STATUS_INPUT and the like where that cannot be read. */
enum status calibrate_work(const struct settings *settings, double *out);

/* Measure units with these settings for about `seconds`: a few steps of the real trajectory, with a smaller batch where the real
 * one would take too long. What training with them would return, STATUS_NOMEM, or as calibrate_work. */
enum status calibrate_measure(const struct settings *settings, double seconds, struct calibrate_speed *out);

/* Give in `out` the bytes of the arrays that a training process with these settings and so many momenta holds: what is allocated when its
 * trajectory is built, and a data file's contents. Errors as calibrate_measure. */
enum status calibrate_memory(const struct settings *settings, size_t momenta, size_t *out);

#endif

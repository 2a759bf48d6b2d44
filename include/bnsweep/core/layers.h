/* The small layers: bias, ReLU, 2x2 max pool, global average pool, linear, cross-entropy. Channels last throughout. */
#ifndef BNSWEEP_CORE_LAYERS_H
#define BNSWEEP_CORE_LAYERS_H

#include "bnsweep/core/real.h"

#include <stddef.h>
#include <stdint.h>

/* y[rows][channels] += b[channels]. */
void layers_bias(size_t rows, size_t channels, const real *b, real *y);
/* db[channels] += the sum of dy[rows][channels] over rows. */
void layers_bias_backward(size_t rows, size_t channels, const real *dy, real *db);

/* y[count] = max(y, 0), in place; a NaN stays. */
void layers_relu(size_t count, real *y);
/* dy[count] becomes 0 where the ReLU's output y is not above 0. */
void layers_relu_backward(size_t count, const real *y, real *dy);

/* y[n][h/2][w/2][c] = the largest of each 2x2 window of x[n][h][w][c]; an odd last row or column is left out. A NaN wins. */
void layers_maxpool(size_t n, size_t h, size_t w, size_t c, const real *x, real *y);
/* dx[n][h][w][c] = dy where x was the first largest of its window (row by row), 0 elsewhere. */
void layers_maxpool_backward(size_t n, size_t h, size_t w, size_t c, const real *x, const real *dy, real *dx);

/* y[n][c] = mean of x[n][pixels][c] over pixels. */
void layers_average(size_t n, size_t pixels, size_t c, const real *x, real *y);
/* dx[n][pixels][c] = dy[n][c] / pixels. */
void layers_average_backward(size_t n, size_t pixels, size_t c, const real *dy, real *dx);

/* y[n][out] = x[n][in] w[in][out] + b[out]. */
void layers_linear(size_t n, size_t in, size_t out, const real *x, const real *w, const real *b, real *y);
/* dw[in][out] and db[out] += their gradients; dx[n][in] = the gradient of x. */
void layers_linear_backward(size_t n, size_t in, size_t out, const real *x, const real *w, const real *dy, real *dw, real *db,
                            real *dx);

/* Return the sum over n of the cross-entropy (nats) of softmax(logits[n][classes]) against labels[n], 0 <= label < classes.
 * Where dlogits is not NULL, dlogits[n][classes] = the gradient of the mean. */
double layers_cross_entropy(size_t n, size_t classes, const real *logits, const int32_t *labels, real *dlogits);

/* Return for how many of n the first largest logit is the label's; logits with a NaN count as wrong. */
size_t layers_correct(size_t n, size_t classes, const real *logits, const int32_t *labels);

#endif

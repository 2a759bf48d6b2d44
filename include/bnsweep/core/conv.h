/* 3x3 convolution, stride 1, zero padding 1: its definition, and the reference way to compute it.
 *
 * Activations are channels-last, x[n][h][w][cin], y[n][h][w][cout]; weights are w[3][3][cin][cout], the output channels
 * fastest: y[i][r][s][o] = sum over a, b, c of w[a][b][c][o] x[i][r+a-1][s+b-1][c], x being 0 outside the image.
 */
#ifndef BNSWEEP_CORE_CONV_H
#define BNSWEEP_CORE_CONV_H

#include "bnsweep/base/status.h"
#include "bnsweep/core/real.h"

#include <stddef.h>

enum { CONV_TAPS = 9 };

struct conv_shape {
    size_t h, w, cin, cout; /* all at least 1; products checked by conv_check */
};

/* The reference: patches to rows of a matrix (im2row), then BLAS. Single-threaded, without state; `workspace` holds
 * conv_workspace(shape) elements and is free for other use between calls. */
size_t conv_workspace(const struct conv_shape *shape);
/* y[n][h][w][cout] from x and w. */
void conv_forward(const struct conv_shape *shape, size_t n, const real *x, const real *w, real *y, real *workspace);
/* dw[3][3][cin][cout] += the gradient of w, from x as in conv_forward and dy[n][h][w][cout]. */
void conv_backward_weights(const struct conv_shape *shape, size_t n, const real *x, const real *dy, real *dw, real *workspace);
/* dx[n][h][w][cin] = the gradient of x. */
void conv_backward_data(const struct conv_shape *shape, size_t n, const real *dy, const real *w, real *dx, real *workspace);

/* Check that the shape's sizes are positive and their products (with `n` images) can be computed. STATUS_SHAPE. */
enum status conv_check(const struct conv_shape *shape, size_t n);

/* rows[n*h*w][9*cin] = the patch around each pixel of x, order (a, b, c) as in w. */
void conv_im2row(const struct conv_shape *shape, size_t n, const real *x, real *rows);

/* dx[n][h][w][cin] = the adjoint of conv_im2row applied to rows: <conv_im2row(x), rows> = <x, dx>. */
void conv_row2im(const struct conv_shape *shape, size_t n, const real *rows, real *dx);

/* Copy weights from PyTorch's layout [cout][cin][3][3] to w[3][3][cin][cout], and back. */
void conv_weights_from_torch(size_t cin, size_t cout, const float *torch, real *w);
void conv_weights_to_torch(size_t cin, size_t cout, const real *w, float *torch);

#endif

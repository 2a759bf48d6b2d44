#include "bnsweep/core/layers.h"

#include "bnsweep/core/elementary.h"

#include <string.h>

void layers_bias(size_t rows, size_t channels, const real *b, real *y)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < channels; c++)
            y[r * channels + c] += b[c];
}

void layers_bias_backward(size_t rows, size_t channels, const real *dy, real *db)
{
    enum { AT_ONCE = 64 };
    for (size_t first = 0; first < channels; first += AT_ONCE) {
        size_t here = channels - first < AT_ONCE ? channels - first : AT_ONCE;
        double sum[AT_ONCE] = {0};
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < here; c++)
                sum[c] += (double)dy[r * channels + first + c];
        for (size_t c = 0; c < here; c++)
            db[first + c] += (real)sum[c];
    }
}

void layers_relu(size_t count, real *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
}

void layers_relu_backward(size_t count, const real *y, real *dy)
{
    for (size_t i = 0; i < count; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

/* Whether b takes a's place in a window that is searched from a to b, as PyTorch does: the first of equals stays, a NaN wins. */
static inline int replaces(real b, real a)
{
    return b > a || b != b;
}

static inline real larger(real a, real b)
{
    return replaces(b, a) ? b : a;
}

void layers_maxpool(size_t n, size_t h, size_t w, size_t c, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < h / 2; r++)
            for (size_t s = 0; s < w / 2; s++, y += c) {
                const real *top = x + ((i * h + 2 * r) * w + 2 * s) * c, *bottom = top + w * c;
                for (size_t j = 0; j < c; j++)
                    y[j] = larger(larger(larger(top[j], top[c + j]), bottom[j]), bottom[c + j]);
            }
}

/* One window's four gradients, for c channels: the first largest value gets dy, the others 0. Rows are [2][c]. */
static void window_backward(size_t c, const real *restrict top, const real *restrict bottom, const real *restrict dy,
                            real *restrict to_top, real *restrict to_bottom)
{
    for (size_t j = 0; j < c; j++) {
        int right_above = replaces(top[c + j], top[j]), right_below = replaces(bottom[c + j], bottom[j]);
        real upper = right_above ? top[c + j] : top[j], lower = right_below ? bottom[c + j] : bottom[j];
        real above = replaces(lower, upper) ? 0 : dy[j], below = replaces(lower, upper) ? dy[j] : 0;
        to_top[j] = right_above ? 0 : above;
        to_top[c + j] = right_above ? above : 0;
        to_bottom[j] = right_below ? 0 : below;
        to_bottom[c + j] = right_below ? below : 0;
    }
}

void layers_maxpool_backward(size_t n, size_t h, size_t w, size_t c, const real *x, const real *dy, real *dx)
{
    if (h % 2 || w % 2) /* what no window covers */
        memset(dx, 0, n * h * w * c * sizeof(real));
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < h / 2; r++)
            for (size_t s = 0; s < w / 2; s++, dy += c) {
                size_t top = ((i * h + 2 * r) * w + 2 * s) * c, bottom = top + w * c;
                window_backward(c, x + top, x + bottom, dy, dx + top, dx + bottom);
            }
}

void layers_average(size_t n, size_t pixels, size_t c, const real *x, real *y)
{
    real scale = (real)1 / (real)pixels;
    for (size_t i = 0; i < n; i++, x += pixels * c, y += c) {
        memset(y, 0, c * sizeof(real));
        for (size_t p = 0; p < pixels; p++)
            for (size_t j = 0; j < c; j++)
                y[j] += x[p * c + j];
        for (size_t j = 0; j < c; j++)
            y[j] *= scale;
    }
}

void layers_average_backward(size_t n, size_t pixels, size_t c, const real *dy, real *dx)
{
    real scale = (real)1 / (real)pixels;
    for (size_t i = 0; i < n; i++, dy += c)
        for (size_t p = 0; p < pixels; p++, dx += c)
            for (size_t j = 0; j < c; j++)
                dx[j] = dy[j] * scale;
}

/* The classifier is small; its sums go in the order of these loops, so that no BLAS decides their bits. */
void layers_linear(size_t n, size_t in, size_t out, const real *x, const real *w, const real *b, real *y)
{
    for (size_t i = 0; i < n; i++, x += in, y += out) {
        memcpy(y, b, out * sizeof(real));
        for (size_t c = 0; c < in; c++)
            for (size_t k = 0; k < out; k++)
                y[k] += x[c] * w[c * out + k];
    }
}

void layers_linear_backward(size_t n, size_t in, size_t out, const real *x, const real *w, const real *dy, real *dw, real *db,
                            real *dx)
{
    layers_bias_backward(n, out, dy, db);
    for (size_t i = 0; i < n; i++, x += in, dy += out, dx += in)
        for (size_t c = 0; c < in; c++) {
            real sum = 0;
            for (size_t k = 0; k < out; k++) {
                sum += dy[k] * w[c * out + k];
                dw[c * out + k] += x[c] * dy[k];
            }
            dx[c] = sum;
        }
}

double layers_cross_entropy(size_t n, size_t classes, const real *logits, const int32_t *labels, real *dlogits)
{
    double total = 0;
    for (size_t i = 0; i < n; i++, logits += classes) {
        double largest = (double)logits[0], sum = 0;
        for (size_t k = 1; k < classes; k++)
            largest = (double)logits[k] > largest ? (double)logits[k] : largest;
        for (size_t k = 0; k < classes; k++)
            sum += elementary_exp((double)logits[k] - largest);
        total += elementary_log(sum) - ((double)logits[labels[i]] - largest);
        for (size_t k = 0; dlogits && k < classes; k++) {
            double p = elementary_exp((double)logits[k] - largest) / sum;
            dlogits[i * classes + k] = (real)((p - (k == (size_t)labels[i])) / (double)n);
        }
    }
    return total;
}

size_t layers_correct(size_t n, size_t classes, const real *logits, const int32_t *labels)
{
    size_t correct = 0;
    for (size_t i = 0; i < n; i++, logits += classes) {
        size_t best = 0;
        int valid = logits[0] == logits[0];
        for (size_t k = 1; k < classes; k++) {
            best = logits[k] > logits[best] ? k : best;
            valid &= logits[k] == logits[k];
        }
        correct += valid && best == (size_t)labels[i];
    }
    return correct;
}

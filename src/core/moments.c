#include "bnsweep/core/moments.h"

#include <string.h>

/* PART rows are summed in `real`, then added to the tile's doubles: a float sum of 32 terms keeps 22 bits. */
enum { TILE = 512, PART = 32, KERNEL_TILE = 128 };

enum status moments_create(struct moments *moments, size_t channels, struct arena *arena)
{
    moments->channels = channels;
    moments->count = 0;
    moments->mean = arena_array(arena, channels, sizeof(double));
    moments->deviations = arena_array(arena, channels, sizeof(double));
    moments->tile_sum = arena_array(arena, channels, sizeof(double));
    moments->tile_square = arena_array(arena, channels, sizeof(double));
    moments->part_sum = arena_array(arena, channels, sizeof(real));
    moments->part_square = arena_array(arena, channels, sizeof(real));
    return moments->mean && moments->deviations && moments->tile_sum && moments->tile_square && moments->part_sum &&
                   moments->part_square
               ? STATUS_OK
               : STATUS_NOMEM;
}

void moments_reset(struct moments *moments)
{
    moments->count = 0;
    memset(moments->mean, 0, moments->channels * sizeof(double));
    memset(moments->deviations, 0, moments->channels * sizeof(double));
}

static void add_part(struct moments *moments, size_t rows, const real *x, const real *pivot)
{
    size_t channels = moments->channels;
    real *restrict sum = moments->part_sum, *restrict square = moments->part_square;
    memset(sum, 0, channels * sizeof(real));
    memset(square, 0, channels * sizeof(real));
    for (size_t r = 0; r < rows; r++, x += channels)
        for (size_t c = 0; c < channels; c++) {
            real d = x[c] - pivot[c];
            sum[c] += d;
            square[c] += d * d;
        }
    for (size_t c = 0; c < channels; c++) {
        moments->tile_sum[c] += (double)sum[c];
        moments->tile_square[c] += (double)square[c];
    }
}

static void merge_tile(struct moments *moments, double rows, const real *pivot)
{
    double total = moments->count + rows, weight = rows / total, cross = moments->count * weight;
    for (size_t c = 0; c < moments->channels; c++) {
        double shift = moments->tile_sum[c] / rows, delta = (double)pivot[c] + shift - moments->mean[c];
        double deviations = moments->tile_square[c] - moments->tile_sum[c] * shift;
        moments->deviations[c] += (deviations < 0 ? 0 : deviations) + delta * delta * cross;
        moments->mean[c] += delta * weight;
    }
    moments->count = total;
}

static void begin_tile(struct moments *moments)
{
    memset(moments->tile_sum, 0, moments->channels * sizeof(double));
    memset(moments->tile_square, 0, moments->channels * sizeof(double));
}

void moments_add(struct moments *moments, size_t rows, const real *x)
{
    size_t channels = moments->channels;
    for (size_t at = 0; at < rows; at += TILE) {
        size_t here = rows - at < TILE ? rows - at : TILE;
        const real *tile = x + at * channels;
        begin_tile(moments);
        for (size_t r = 0; r < here; r += PART)
            add_part(moments, here - r < PART ? here - r : PART, tile + r * channels, tile);
        merge_tile(moments, (double)here, tile);
    }
}

void moments_add_with(struct moments *moments, moments_deviations *deviations, size_t rows, const real *x)
{
    for (size_t at = 0; at < rows; at += KERNEL_TILE) {
        size_t here = rows - at < KERNEL_TILE ? rows - at : KERNEL_TILE;
        const real *tile = x + at * moments->channels;
        begin_tile(moments);
        deviations(here, moments->channels, tile, moments->tile_sum, moments->tile_square);
        merge_tile(moments, (double)here, tile);
    }
}

void moments_variance(const struct moments *moments, double *variance)
{
    for (size_t c = 0; c < moments->channels; c++)
        variance[c] = moments->deviations[c] / moments->count;
}

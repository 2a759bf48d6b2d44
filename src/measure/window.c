#include "bnsweep/measure/window.h"

#include "bnsweep/measure/geometry.h"

#include <math.h>

enum status window_create(struct window *window, const struct net *net, const struct plan *plan, struct arena *arena)
{
    *window = (struct window){.net = net, .plan = *plan, .length = (size_t)plan->angle_window};
    window->conv_size = geometry_conv_size(net);
    window->slots = (size_t)(plan->angle_window / plan->check_every + 1);
    uint64_t checks = plan_check_count(plan);
    if (window->slots > checks)
        window->slots = (size_t)checks;
    window->loss = arena_array(arena, window->length, sizeof(double));
    window->cos_update = arena_array(arena, window->length, net->channels * sizeof(double));
    window->cos_grad = arena_array(arena, window->length, net->channels * sizeof(double));
    window->snapshots = arena_array(arena, window->slots, window->conv_size * sizeof(real));
    return window->loss && window->cos_update && window->cos_grad && window->snapshots ? STATUS_OK : STATUS_NOMEM;
}

void window_snapshot(struct window *window, uint64_t step, const real *weights)
{
    uint64_t check;
    if (plan_is_check(&window->plan, step + window->plan.angle_window, &check))
        geometry_conv_copy(window->net, weights, window->snapshots + check % window->slots * window->conv_size);
}

void window_enter(struct window *window, uint64_t step, double loss, double **cos_update, double **cos_grad)
{
    size_t row = (size_t)((step - 1) % window->length);
    window->loss[row] = loss;
    *cos_update = window->cos_update + row * window->net->channels;
    *cos_grad = window->cos_grad + row * window->net->channels;
}

double window_loss(const struct window *window, uint64_t step)
{
    double sum = 0;
    for (size_t i = 0; i < window->length; i++)
        sum += window->loss[(size_t)((step + i) % window->length)];
    return sum / (double)window->length;
}

void window_mean(const struct window *window, uint64_t step, const double *cosines, double *mean)
{
    size_t channels = window->net->channels;
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, count = 0;
        for (size_t i = 0; i < window->length; i++) {
            double value = cosines[(size_t)((step + i) % window->length) * channels + c];
            if (!isnan(value)) {
                sum += value;
                count++;
            }
        }
        mean[c] = count > 0 ? sum / count : NAN;
    }
}

const real *window_opening(const struct window *window, uint64_t check)
{
    return window->snapshots + check % window->slots * window->conv_size;
}

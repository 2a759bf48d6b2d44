#include "bnsweep/run/check.h"

#include "bnsweep/measure/geometry.h"
#include "bnsweep/measure/lag.h"
#include "bnsweep/measure/reestimate.h"
#include "bnsweep/measure/swap.h"

#include <math.h>
#include <string.h>

enum status check_create(struct trajectory *t)
{
    struct arena *arena = &t->arena;
    size_t record = variables_record_size(GROUP_CHECK, &t->extent);
    t->record = arena_array(arena, record, sizeof(double));
    t->channel_values = arena_array(arena, t->net.channels, sizeof(double));
    t->order = arena_array(arena, t->net.channels, sizeof *t->order);
    t->reestimated_accuracy = arena_array(arena, t->extent.reests, sizeof(double));
    t->reestimated_ema = arena_array(arena, t->extent.emas, sizeof(double));
    if (!t->record || !t->channel_values || !t->order || !t->reestimated_accuracy || !t->reestimated_ema)
        return STATUS_NOMEM;
    struct running_batch *batches[] = {&t->fresh, &t->probe_before, &t->probe_after, &t->sums};
    struct batchnorm_transform *transforms[] = {&t->training, &t->fresh_transform, &t->mixed};
    enum status status = running_create(&t->reestimated, &t->net, 1, arena);
    t->evaluations = arena_array(arena, t->config.momenta_count, sizeof *t->evaluations);
    if (!t->evaluations)
        return STATUS_NOMEM;
    for (size_t m = 0; !status && m < t->config.momenta_count; m++)
        status = running_transform_create(&t->evaluations[m], &t->net, arena);
    for (size_t i = 0; !status && i < sizeof batches / sizeof *batches; i++)
        status = running_batch_create(batches[i], &t->net, arena);
    for (size_t i = 0; !status && i < sizeof transforms / sizeof *transforms; i++)
        status = running_transform_create(transforms[i], &t->net, arena);
    return status;
}

/* Where a variable stands in the record under way. */
static double *place(struct trajectory *t, enum variable_id id)
{
    return t->record + variables_offset(id, &t->extent);
}

static struct infer_set validation(const struct trajectory *t, uint64_t size)
{
    return (struct infer_set){(size_t)size, t->task.val_x, t->task.val_y};
}

static void probe(struct trajectory *t, struct running_batch *out)
{
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    struct infer_set set = validation(t, t->config.plan.probe_size);
    infer_statistics(&t->infer, &mode, t->weights, &set, out, &t->mixed, NULL);
}

void check_before_step(struct trajectory *t)
{
    probe(t, &t->probe_before);
}

/* Fresh statistics of the validation set, taken in training mode, and its score with them. */
static void measure_fresh(struct trajectory *t)
{
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    struct infer_set set = validation(t, t->config.plan.val_size);
    struct infer_score score;
    infer_statistics(&t->infer, &mode, t->weights, &set, &t->fresh, &t->training, &score);
    *place(t, VARIABLE_acc_train) = score.accuracy;
    *place(t, VARIABLE_val_loss_train) = score.loss;
    if (net_has_running(&t->net))
        running_evaluation_batch(&t->net, &t->fresh, &t->fresh_transform);
    for (size_t m = 0; t->config.plan.probe_writes_stats && net_has_running(&t->net) && m < t->config.momenta_count; m++)
        running_update(&t->net, t->held, &t->fresh, set.n, &t->running[m]);
}

/* Score the validation set with each momentum's running statistics: scores[momenta], in one go. */
static void measure_scores(struct trajectory *t)
{
    const struct batchnorm_transform *transforms[TRAJECTORY_MAX_MOMENTA];
    struct infer_set set = validation(t, t->config.plan.val_size);
    for (size_t m = 0; m < t->config.momenta_count; m++) {
        if (net_has_running(&t->net))
            running_evaluation(&t->net, &t->running[m], &t->evaluations[m]);
        transforms[m] = &t->evaluations[m];
    }
    infer_evaluate_all(&t->infer, t->weights, t->config.momenta_count, transforms, &set, t->scores);
}

/* What all momenta of the trajectory have in common. */
static void measure_shared(struct trajectory *t, uint64_t check)
{
    for (size_t i = 0; i < variables_record_size(GROUP_CHECK, &t->extent); i++)
        t->record[i] = NAN;
    t->reestimated_known = t->ema_known = false;
    probe(t, &t->probe_after);
    lag_drift(t->net.channels, &t->probe_before, &t->probe_after, place(t, VARIABLE_drift));
    measure_fresh(t);
    measure_scores(t);
    lag_mu_over_sigma(t->net.channels, &t->fresh, place(t, VARIABLE_mu_over_sigma));
    *place(t, VARIABLE_loss) = window_loss(&t->window, t->step);
    *place(t, VARIABLE_lr_applied) = t->optim.rate;
    geometry_norm(&t->net, t->weights, place(t, VARIABLE_norm));
    geometry_angle(&t->net, t->weights, window_opening(&t->window, check), place(t, VARIABLE_angle));
    window_mean(&t->window, t->step, t->window.cos_update, place(t, VARIABLE_cos_update));
    window_mean(&t->window, t->step, t->window.cos_grad, place(t, VARIABLE_cos_grad));
}

/* Score the validation set with these weights and the transform in t->mixed. */
static double accuracy(struct trajectory *t, const real *weights)
{
    struct infer_set set = validation(t, t->config.plan.val_size);
    return infer_evaluate(&t->infer, weights, &t->mixed, &set).accuracy;
}

static double accuracy_with(struct trajectory *t, const real *weights, const struct running *running)
{
    if (net_has_running(&t->net))
        running_evaluation(&t->net, running, &t->mixed);
    return accuracy(t, weights);
}

struct reestimate_target {
    struct trajectory *trajectory;
    const real *weights;
    double *accuracy;
};

static void visit_reestimated(void *context, size_t index, const struct running *statistics)
{
    struct reestimate_target *target = context;
    target->accuracy[index] = accuracy_with(target->trajectory, target->weights, statistics);
}

/* accuracies[count] after re-estimating for these weights over counts[count] batches. */
static enum status reestimated(struct trajectory *t, const real *weights, size_t count, const uint64_t *counts, double *accuracies)
{
    struct reestimate_target target = {t, weights, accuracies};
    return reestimate(&t->pass, &t->task, t->held, &t->running[0], weights, count, counts, &t->reestimated, &t->sums,
                      visit_reestimated, &target);
}

static enum status measure_reestimated(struct trajectory *t)
{
    enum status status = STATUS_OK;
    if (!t->reestimated_known)
        status = reestimated(t, t->weights, t->extent.reests, t->config.plan.reest_batches, t->reestimated_accuracy);
    t->reestimated_known = !status;
    memcpy(place(t, VARIABLE_acc_reest), t->reestimated_accuracy, t->extent.reests * sizeof(double));
    return status;
}

static void measure_swapped_layers(struct trajectory *t, size_t unit)
{
    for (size_t i = 0; i < t->net.config.blocks; i++) {
        swap_copy(t->net.channels, &t->evaluations[unit], &t->mixed);
        swap_layer(&t->net, i, &t->fresh_transform, &t->mixed);
        place(t, VARIABLE_acc_swap_layer)[i] = accuracy(t, t->weights);
    }
}

static void measure_swapped_channels(struct trajectory *t, size_t unit)
{
    size_t ks = t->extent.ks;
    for (int kind = 0; kind < PLAN_ORDER_COUNT; kind++) {
        double *out = place(t, VARIABLE_acc_swap_top) + (size_t)kind * ks;
        swap_order(&t->net, (enum plan_order)kind, place(t, VARIABLE_mean_lag), place(t, VARIABLE_angle), t->config.seed, t->step,
                   t->order);
        swap_copy(t->net.channels, &t->evaluations[unit], &t->mixed);
        for (size_t i = 0, done = 0; i < ks; done = plan_k(t->net.channels, i), i++) {
            swap_channels(t->order, done, plan_k(t->net.channels, i) - done, &t->fresh_transform, &t->mixed);
            out[i] = accuracy(t, t->weights);
        }
    }
}

/* Averaged weights re-estimated over the largest of reest_batches. */
static enum status measure_averages_reestimated(struct trajectory *t)
{
    enum status status = STATUS_OK;
    const struct plan *plan = &t->config.plan;
    for (size_t e = 0; !status && !t->ema_known && e < t->extent.emas; e++)
        status = reestimated(t, t->averages[e].weights, 1, &plan->reest_batches[plan->reest_count - 1], &t->reestimated_ema[e]);
    t->ema_known = !status;
    memcpy(place(t, VARIABLE_acc_ema_reest), t->reestimated_ema, t->extent.emas * sizeof(double));
    return status;
}

static enum status measure_averages(struct trajectory *t, size_t unit)
{
    for (size_t e = 0; e < t->extent.emas; e++) {
        const struct average *average = &t->averages[e];
        place(t, VARIABLE_acc_ema)[e] = accuracy_with(t, average->weights, &average->running[unit]);
        place(t, VARIABLE_acc_ema_raw)[e] = accuracy_with(t, average->weights, &t->running[unit]);
    }
    return net_has_running(&t->net) && t->config.plan.reest_count ? measure_averages_reestimated(t) : STATUS_OK;
}

/* What belongs to one momentum: its running statistics and everything evaluated with them. */
static enum status measure_unit(struct trajectory *t, size_t unit, bool last)
{
    const struct plan *plan = &t->config.plan;
    const struct running *running = &t->running[unit];
    bool has_running = net_has_running(&t->net);
    if (has_running) {
        for (size_t c = 0; c < t->net.channels; c++) {
            place(t, VARIABLE_running_mean)[c] = (double)running->mean[c];
            place(t, VARIABLE_running_var)[c] = (double)running->var[c];
        }
        lag_of_running(t->net.channels, running, &t->fresh, place(t, VARIABLE_mean_lag), place(t, VARIABLE_var_ratio));
    }
    struct infer_score score = t->scores[unit];
    *place(t, VARIABLE_acc_eval) = score.accuracy;
    *place(t, VARIABLE_val_loss_eval) = score.loss;
    enum status status = STATUS_OK;
    if (has_running && plan_due(plan->reest, last, score.accuracy))
        status = measure_reestimated(t);
    if (has_running && plan_due(plan->swap_layer, last, score.accuracy))
        measure_swapped_layers(t, unit);
    if (has_running && plan_due(plan->swap_top, last, score.accuracy))
        measure_swapped_channels(t, unit);
    if (!status && plan_due(plan->ema, last, score.accuracy))
        status = measure_averages(t, unit);
    return status;
}

/* Forget what the momentum before had. */
static void clear_unit(struct trajectory *t)
{
    static const enum variable_id own[] = {VARIABLE_acc_reest, VARIABLE_acc_swap_layer, VARIABLE_acc_swap_top,
                                           VARIABLE_acc_ema,   VARIABLE_acc_ema_raw,    VARIABLE_acc_ema_reest};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        for (size_t j = 0; j < variables_size(own[i], &t->extent); j++)
            place(t, own[i])[j] = NAN;
}

static enum status measure_units(struct trajectory *t, uint64_t index)
{
    enum status status = STATUS_OK;
    for (size_t unit = 0; !status && unit < t->config.momenta_count; unit++) {
        clear_unit(t);
        status = measure_unit(t, unit, index + 1 == plan_check_count(&t->config.plan));
        if (!status)
            status = t->sink.values(t->sink.context, unit, GROUP_CHECK, (uint32_t)index, t->record,
                                    variables_record_size(GROUP_CHECK, &t->extent));
    }
    return status;
}

enum status check_measure(struct trajectory *t, uint64_t index)
{
    measure_shared(t, index);
    return measure_units(t, index);
}

/* Whether what the weights give now is what was stored. */
static bool is_reproduced(struct trajectory *t, const float *stored)
{
    static const enum variable_id given[] = {VARIABLE_norm, VARIABLE_acc_train, VARIABLE_val_loss_train, VARIABLE_mu_over_sigma};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (size_t j = 0; j < variables_size(given[i], &t->extent); j++) {
            float now = (float)place(t, given[i])[j];
            if (memcmp(&now, &stored[variables_offset(given[i], &t->extent) + j], sizeof now) != 0)
                return false;
        }
    return true;
}

/* Channels are ranked by angles in double; those stored in float rank them the same unless two are equal. */
static bool is_ranked(const struct trajectory *t, const float *stored, bool last)
{
    const float *angle = stored + variables_offset(VARIABLE_angle, &t->extent);
    enum when_kind when = t->config.plan.swap_top;
    if (when == WHEN_NEVER || (when == WHEN_LAST && !last))
        return true;
    for (size_t i = 0; i < t->net.channels; i++)
        for (size_t j = 0; j < i; j++)
            if (angle[i] == angle[j])
                return false;
    return true;
}

enum status check_repeat(struct trajectory *t, uint64_t index, const float *stored)
{
    for (size_t i = 0; i < variables_record_size(GROUP_CHECK, &t->extent); i++)
        t->record[i] = (double)stored[i];
    t->reestimated_known = t->ema_known = false;
    geometry_norm(&t->net, t->weights, place(t, VARIABLE_norm));
    measure_fresh(t);
    measure_scores(t);
    lag_mu_over_sigma(t->net.channels, &t->fresh, place(t, VARIABLE_mu_over_sigma));
    if (!is_reproduced(t, stored))
        return status_fail(STATUS_MISMATCH, "the weights stored at step %llu do not give here the values that are stored there",
                           (unsigned long long)t->step);
    if (!is_ranked(t, stored, index + 1 == plan_check_count(&t->config.plan)))
        return status_fail(STATUS_MISMATCH, "two channels have the same stored angle at step %llu: how swap_top ranked them is not known",
                           (unsigned long long)t->step);
    return measure_units(t, index);
}

#include "bnsweep/measure/plan.h"

#include <inttypes.h>

#define FAILING_BELOW 0.9

const char *const plan_order_names[PLAN_ORDER_COUNT] = {
#define X(name, text, meaning) text,
    PLAN_ORDERS(X)
#undef X
};

enum status plan_check(const struct plan *plan)
{
    if (!plan->steps || !plan->check_every || !plan->angle_window || plan->val_size < 2)
        return status_fail(STATUS_INPUT, "steps, check_every and angle_window must be at least 1, val_size at least 2");
    if (plan->first_check > plan->steps || plan->first_check < plan->angle_window)
        return status_fail(STATUS_INPUT, "first_check = %" PRIu64 " must lie between angle_window = %" PRIu64 " and steps = %" PRIu64,
                           plan->first_check, plan->angle_window, plan->steps);
    if (!plan->probe_size || plan->probe_size > plan->val_size)
        return status_fail(STATUS_INPUT, "probe_size = %" PRIu64 " must lie between 1 and val_size = %" PRIu64, plan->probe_size,
                           plan->val_size);
    if (plan->reest_count > PLAN_MAX_LIST || plan->ema_count > PLAN_MAX_LIST)
        return status_fail(STATUS_INPUT, "at most %d values in reest_batches and ema_decays", PLAN_MAX_LIST);
    for (size_t i = 0; i < plan->reest_count; i++)
        if (!plan->reest_batches[i] || (i && plan->reest_batches[i] <= plan->reest_batches[i - 1]))
            return status_fail(STATUS_INPUT, "reest_batches must rise, from at least 1");
    for (size_t i = 0; i < plan->ema_count; i++)
        if (!(plan->ema_decays[i] > 0 && plan->ema_decays[i] < 1))
            return status_fail(STATUS_INPUT, "ema_decays must lie between 0 and 1");
    return STATUS_OK;
}

uint64_t plan_check_count(const struct plan *plan)
{
    return plan->first_check > plan->steps ? 0 : (plan->steps - plan->first_check) / plan->check_every + 1;
}

uint64_t plan_check_step(const struct plan *plan, uint64_t index)
{
    return plan->first_check + index * plan->check_every;
}

bool plan_is_check(const struct plan *plan, uint64_t step, uint64_t *index)
{
    if (step < plan->first_check || step > plan->steps || (step - plan->first_check) % plan->check_every)
        return false;
    if (index)
        *index = (step - plan->first_check) / plan->check_every;
    return true;
}

uint64_t plan_sample_count(const struct plan *plan)
{
    return plan->trace_every ? plan->steps / plan->trace_every : 0;
}

uint64_t plan_sample_step(const struct plan *plan, uint64_t index)
{
    return (index + 1) * plan->trace_every;
}

bool plan_is_sample(const struct plan *plan, uint64_t step, uint64_t *index)
{
    if (!plan->trace_every || !step || step > plan->steps || step % plan->trace_every)
        return false;
    if (index)
        *index = step / plan->trace_every - 1;
    return true;
}

size_t plan_k_count(size_t channels)
{
    size_t count = 1;
    for (size_t k = 1; k < channels; k *= 2)
        count++;
    return count;
}

size_t plan_k(size_t channels, size_t index)
{
    return index + 1 == plan_k_count(channels) ? channels : (size_t)1 << index;
}

bool plan_due(enum when_kind when, bool last, double accuracy)
{
    switch (when) {
    case WHEN_LAST: return last;
    case WHEN_FAILING: return accuracy < FAILING_BELOW;
    case WHEN_ALWAYS: return true;
    case WHEN_NEVER:
    case WHEN_KIND_COUNT: break;
    }
    return false;
}

struct variables_extent plan_extent(const struct plan *plan, size_t channels, size_t layers)
{
    bool swap = plan->swap_top != WHEN_NEVER;
    return (struct variables_extent){
        .checks = plan_check_count(plan),
        .samples = plan_sample_count(plan),
        .channels = channels,
        .layers = layers,
        .reests = plan->reest != WHEN_NEVER ? plan->reest_count : 0,
        .orders = swap ? PLAN_ORDER_COUNT : 0,
        .ks = swap ? plan_k_count(channels) : 0,
        .emas = plan->ema != WHEN_NEVER ? plan->ema_count : 0,
        .steps = plan->keep_batch_stats ? (size_t)plan->steps : 0,
    };
}

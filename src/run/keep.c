#include "bnsweep/run/keep.h"

#include <string.h>

bool keep_wanted(const struct plan *plan, enum norm_kind norm, enum freeze_stats_kind freeze_stats)
{
    return plan->keep_batch_stats && norm == NORM_BATCH && freeze_stats != FREEZE_STATS_HELD;
}

enum status keep_create(struct trajectory *t)
{
    bool wanted = keep_wanted(&t->config.plan, t->config.net.norm, t->config.freeze_stats);
    t->extent.steps = wanted ? (size_t)t->config.plan.steps : 0;
    t->extent.parameters = wanted ? t->net.size : 0;
    if (!wanted)
        return STATUS_OK;
    size_t statistics = 2 * t->net.channels;
    t->kept = arena_array(&t->arena, statistics > t->net.size ? statistics : t->net.size, sizeof(double));
    return t->kept ? STATUS_OK : STATUS_NOMEM;
}

static enum status send(struct trajectory *t, enum variable_group group, uint64_t index)
{
    return t->sink.values(t->sink.context, 0, group, (uint32_t)index, t->kept, variables_record_size(group, &t->extent));
}

enum status keep_batch(struct trajectory *t)
{
    size_t size = t->net.channels * sizeof(double);
    if (!t->kept)
        return STATUS_OK;
    memcpy(t->kept + variables_offset(VARIABLE_batch_mean, &t->extent), t->pass.batch.mean, size);
    memcpy(t->kept + variables_offset(VARIABLE_batch_var, &t->extent), t->pass.batch.var, size);
    return send(t, GROUP_STEP, t->step);
}

enum status keep_weights(struct trajectory *t, uint64_t check)
{
    if (!t->kept)
        return STATUS_OK;
    for (size_t i = 0; i < t->net.size; i++)
        t->kept[i] = (double)t->weights[i];
    return send(t, GROUP_WEIGHTS, check);
}

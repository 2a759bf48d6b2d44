#include "bnsweep/run/replay.h"

#include "bnsweep/run/check.h"

#include <math.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20, MOST_STEPS = 1024 };

bool replay_possible(const struct plan *plan)
{
    return plan->keep_batch_stats && plan->ema == WHEN_NEVER;
}

enum status replay_begin(struct replay *replay, struct trajectory *t, const struct replay_source *source)
{
    *replay = (struct replay){.trajectory = t, .source = *source};
    replay->room = BLOCK_BYTES / (t->net.channels * sizeof(double));
    replay->room = replay->room < 1 ? 1 : replay->room > MOST_STEPS ? MOST_STEPS : replay->room;
    replay->mean = arena_array(&t->arena, replay->room, t->net.channels * sizeof(double));
    replay->var = arena_array(&t->arena, replay->room, t->net.channels * sizeof(double));
    replay->weights = arena_array(&t->arena, t->net.size, sizeof(float));
    replay->record = arena_array(&t->arena, variables_record_size(GROUP_CHECK, &t->extent), sizeof(float));
    return replay->mean && replay->var && replay->weights && replay->record ? STATUS_OK : STATUS_NOMEM;
}

/* Put the statistics of the coming step's batch where a forward pass leaves them. */
static enum status take_batch(struct replay *replay)
{
    struct trajectory *t = replay->trajectory;
    size_t channels = t->net.channels;
    if (t->step >= replay->first + replay->held) {
        uint64_t left = replay->source.steps - t->step;
        replay->first = t->step;
        replay->held = left < replay->room ? (size_t)left : replay->room;
        enum status status = replay->source.batches(replay->source.context, replay->first, replay->held, replay->mean, replay->var);
        if (status)
            return status;
    }
    size_t at = (size_t)(t->step - replay->first) * channels;
    for (size_t c = 0; c < channels; c++) {
        if (isnan(replay->mean[at + c]) || isnan(replay->var[at + c]))
            return status_fail(STATUS_MISMATCH, "the batch statistics of step %llu are not there", (unsigned long long)t->step + 1);
        t->pass.batch.mean[c] = replay->mean[at + c];
        t->pass.batch.var[c] = replay->var[at + c];
    }
    return STATUS_OK;
}

static enum status take_check(struct replay *replay, uint64_t check)
{
    struct trajectory *t = replay->trajectory;
    size_t size = variables_record_size(GROUP_CHECK, &t->extent);
    enum status status = replay->source.weights(replay->source.context, check, t->net.size, replay->weights);
    if (!status)
        status = replay->source.check(replay->source.context, check, size, replay->record);
    for (size_t i = 0; !status && i < t->net.size; i++)
        t->weights[i] = (real)replay->weights[i];
    return status ? status : check_repeat(t, check, replay->record);
}

enum status replay_step(struct replay *replay)
{
    struct trajectory *t = replay->trajectory;
    uint64_t check;
    enum status status = take_batch(replay);
    if (!status)
        status = trajectory_take_batch(t);
    if (status)
        return status;
    t->step++;
    return plan_is_check(&t->config.plan, t->step, &check) ? take_check(replay, check) : STATUS_OK;
}

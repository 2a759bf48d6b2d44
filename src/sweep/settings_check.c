#include "bnsweep/sweep/settings_check.h"

#include "bnsweep/sweep/settings_text.h"

#include <inttypes.h>

/* Record whom to blame and return STATUS_INPUT's message: "key = value: ...". */
#define BLAME(culprit, ...) (*key = SETTING_##culprit, status_fail(STATUS_INPUT, __VA_ARGS__))

static enum status check_given(const struct settings *s, const bool *given, int *key)
{
    for (*key = 0; *key < SETTINGS_COUNT; ++*key) {
        const struct setting *setting = &settings_table[*key];
        if (given[*key] || setting->default_text || !settings_relevant(s, *key))
            continue;
        char allowed[SETTINGS_VALUE_SIZE];
        settings_text_allowed(*key, allowed);
        const char *condition = settings_condition_texts[setting->condition];
        return status_fail(
            STATUS_INPUT, "not set, but required%s%s; allowed: %s", *condition ? " with " : "", condition, allowed);
    }
    if (s->optimizer == OPTIM_ADAMW && !given[SETTING_weight_decay])
        return BLAME(weight_decay,
            "not set, but required with optimizer = adamw (PyTorch's default there is 0.01); allowed: a number, >= 0");
    return STATUS_OK;
}

/* The image's side at block number `block`, from 0: every block but the last ends in a 2 x 2 pool. */
static int64_t side_at(const struct settings *s, int64_t block)
{
    return s->image >> block;
}

static enum status check_network(const struct settings *s, int *key)
{
    int64_t blocks = s->channels.count, last = side_at(s, blocks - 1);
    if (s->norm == NORM_GROUP)
        for (int64_t i = 0; i < blocks; i++)
            if (s->channels.values[i] % s->groups)
                return BLAME(groups, "%" PRId64 " groups do not divide the %" PRId64 " channels of block %" PRId64, s->groups,
                    s->channels.values[i], i + 1);
    if (s->data == DATA_TEMPLATES && last < 1)
        return BLAME(channels,
            "%" PRId64 " blocks pool an image of %" PRId64 " pixels %" PRId64
            " times, to nothing; use fewer blocks or a larger image",
            blocks, s->image, blocks - 1);
    bool batch_statistics = s->norm == NORM_BATCH || s->norm == NORM_BATCHRENORM;
    if (s->data == DATA_TEMPLATES && batch_statistics && s->batch == 1 && last == 1)
        return BLAME(
            batch, "a batch of 1 leaves one value a channel in block %" PRId64 ": batch statistics need at least 2", blocks);
    if (s->norm == NORM_BATCHRENORM && s->renorm_warmup > s->renorm_rmax_step)
        return BLAME(renorm_rmax_step, "%" PRId64 " is before renorm_warmup = %" PRId64, s->renorm_rmax_step, s->renorm_warmup);
    if (s->norm == NORM_BATCHRENORM && s->renorm_warmup > s->renorm_dmax_step)
        return BLAME(renorm_dmax_step, "%" PRId64 " is before renorm_warmup = %" PRId64, s->renorm_dmax_step, s->renorm_warmup);
    return STATUS_OK;
}

static enum status check_train(const struct settings *s, int *key)
{
    int64_t blocks = s->channels.count, frozen = s->freeze & ~(int64_t)SETTINGS_FREEZE_LINEAR;
    if (s->nesterov && !(s->momentum > 0))
        return BLAME(nesterov, "nesterov = yes needs momentum > 0");
    if (frozen >> blocks)
        return BLAME(freeze, "a frozen block is not there: the network has conv1..conv%" PRId64, blocks);
    if (s->freeze && s->freeze_from >= s->steps)
        return BLAME(freeze_from, "%" PRId64 ": nothing is ever frozen within steps = %" PRId64, s->freeze_from, s->steps);
    if (s->warmup > s->steps)
        return BLAME(warmup, "%" PRId64 " is more than steps = %" PRId64, s->warmup, s->steps);
    if (s->schedule == SCHEDULE_COSINE && s->lr_min > s->lr)
        return BLAME(lr_min, "%g is more than lr = %g", s->lr_min, s->lr);
    return STATUS_OK;
}

static enum status check_measure(const struct settings *s, int *key)
{
    if (s->first_check > s->steps)
        return BLAME(first_check, "%" PRId64 " is after the last step, steps = %" PRId64 "; allowed: angle_window..steps",
            s->first_check, s->steps);
    if (s->angle_window > s->first_check)
        return BLAME(angle_window, "%" PRId64 " steps do not fit before first_check = %" PRId64, s->angle_window, s->first_check);
    if (s->probe_size > s->val_size)
        return BLAME(probe_size, "%" PRId64 " is more than val_size = %" PRId64, s->probe_size, s->val_size);
    return STATUS_OK;
}

enum status settings_check(const struct settings *settings, const bool *given, int *key)
{
    enum status status = given ? check_given(settings, given, key) : STATUS_OK;
    if (!status)
        status = check_network(settings, key);
    if (!status)
        status = check_train(settings, key);
    if (!status)
        status = check_measure(settings, key);
    return status;
}

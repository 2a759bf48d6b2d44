#include "effects.h"

#include "bnsweep/sweep/identity.h"

#include <math.h>
#include <string.h>

/* Settings that act from the first or second step on, in every unit that reads them. The others may come too late (a drop after
 * the last step), never bind (a decay below rounding), or say the same in other words (adam and adamw without decay; two files with
 * the same weights). */
static bool acts_always(int key)
{
    switch (key) {
    case SETTING_noise:
    case SETTING_signal:
    case SETTING_classes:
    case SETTING_image:
    case SETTING_image_channels:
    case SETTING_task_seed:
    case SETTING_order:
    case SETTING_groups:
    case SETTING_conv_bias:
    case SETTING_seed:
    case SETTING_steps:
    case SETTING_batch:
    case SETTING_lr:
    case SETTING_momentum:
    case SETTING_nesterov:
    case SETTING_beta1:
    case SETTING_beta2:
    case SETTING_radial: return true;
    default: return false;
    }
}

/* Settings of data, arithmetic and training, read only after the weights are made. */
static bool comes_after_init(int key)
{
    switch (key) {
    case SETTING_noise:
    case SETTING_signal:
    case SETTING_task_seed:
    case SETTING_order:
    case SETTING_groups:
    case SETTING_eps: return true;
    default:
        return settings_table[key].section == SETTINGS_SECTION_TRAIN && key != SETTING_seed;
    }
}

static bool is_frozen_whole(const struct settings *s)
{
    int64_t all = ((int64_t)1 << s->channels.count) - 1;
    return (s->freeze & all) == all && (s->freeze & SETTINGS_FREEZE_LINEAR) && s->freeze_from == 0;
}

/* Every block's running statistics stand still from the first step. */
static bool is_held_whole(const struct settings *s)
{
    int64_t all = ((int64_t)1 << s->channels.count) - 1;
    return (s->freeze & all) == all && s->freeze_from == 0 && s->freeze_stats == FREEZE_STATS_HELD;
}

/* Reals so close, to each other or beside the numbers of order one on which they act, that floats may not tell them apart. */
static bool is_nearly_same(int key, const struct settings *a, const struct settings *b)
{
    if (key == SETTING_task_seed) /* per-seed, and the same seed by its number */
        return (a->task_seed == SETTINGS_PER_SEED ? a->seed : a->task_seed) == (b->task_seed == SETTINGS_PER_SEED ? b->seed : b->task_seed);
    if (settings_table[key].type != SETTINGS_TYPE_REAL)
        return false;
    double x = *(const double *)((const char *)a + settings_table[key].offset);
    double y = *(const double *)((const char *)b + settings_table[key].offset);
    static const double RELATIVE = 1e-6, ABSOLUTE = 1e-7;
    return fabs(x - y) <= fmax(ABSOLUTE, RELATIVE * fmax(fabs(x), fabs(y)));
}

static bool cannot_learn(const struct settings *s)
{
    return s->lr == 0 || is_frozen_whole(s) || s->steps < 2;
}

/* A seed that neither makes the weights nor the data, nor orders them. */
static bool is_idle_seed(int key, const struct settings *s)
{
    return key == SETTING_seed && strcmp(s->init, "default") != 0 &&
           (s->data == DATA_FILE ? s->order == ORDER_SEQUENTIAL : s->task_seed != SETTINGS_PER_SEED);
}

static enum effect on_weights(int key, const struct settings *a, const struct settings *b)
{
    bool idle = is_nearly_same(key, a, b) || (cannot_learn(a) && cannot_learn(b)) || a->steps < 2 || b->steps < 2 ||
                is_idle_seed(key, a) || is_frozen_whole(a) || is_frozen_whole(b);
    return acts_always(key) && !idle ? EFFECT_CERTAIN : EFFECT_LIKELY;
}

static enum effect on_init(int key, const struct settings *a)
{
    bool from_file = strcmp(a->init, "default") != 0;
    if (comes_after_init(key) || (key == SETTING_seed && from_file))
        return EFFECT_KEPT;
    if (key == SETTING_seed || key == SETTING_classes || key == SETTING_conv_bias || key == SETTING_image_channels)
        return EFFECT_CERTAIN;
    return key == SETTING_init_hash ? EFFECT_LIKELY : EFFECT_OPEN;
}

static struct effects of_momentum(const struct settings *a, const struct settings *b)
{
    struct effects effects = {.on = {[EVIDENCE_INIT] = EFFECT_KEPT, [EVIDENCE_WEIGHTS] = EFFECT_LIKELY}};
    bool idle = is_nearly_same(SETTING_bn_momentum, a, b) || is_held_whole(a) || is_held_whole(b);
    effects.on[EVIDENCE_STATISTICS] = effects.on[EVIDENCE_STATISTICS_TRACE] = idle ? EFFECT_LIKELY : EFFECT_CERTAIN;
    if (identity_fusable(a) && identity_fusable(b))
        effects.on[EVIDENCE_WEIGHTS] = effects.on[EVIDENCE_WEIGHT_TRACE] = EFFECT_KEPT;
    return effects;
}

struct effects effects_of(int key, const struct settings *a, const struct settings *b)
{
    struct effects effects = {.on = {[EVIDENCE_WEIGHTS] = EFFECT_LIKELY}};
    if (key == SETTING_bn_momentum)
        return of_momentum(a, b);
    if (key >= 0) {
        effects.on[EVIDENCE_INIT] = on_init(key, a);
        effects.on[EVIDENCE_WEIGHTS] = on_weights(key, a, b);
    }
    return effects;
}

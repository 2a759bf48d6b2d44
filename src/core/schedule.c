#include "bnsweep/core/schedule.h"

#include "bnsweep/core/elementary.h"

/* From `start` to `end` along half a cosine, `part` of the way. */
static double anneal(double start, double end, double part)
{
    return end + (start - end) / 2 * (1 + elementary_cospi(part < 0 ? 0 : part > 1 ? 1 : part));
}

static double one_cycle(const struct schedule_config *config, double t, double total)
{
    double start = config->lr / config->div, floor = start / config->final_div;
    double top = config->peak * total - 1, last = total - 1;
    if (t <= top && top > 0)
        return anneal(start, config->lr, t / top);
    return last > top ? anneal(config->lr, floor, (t - top) / (last - top)) : config->lr;
}

double schedule_rate(const struct schedule_config *config, uint64_t step)
{
    if (step < config->warmup)
        return config->lr * (double)(step + 1) / (double)config->warmup;
    uint64_t t = step - config->warmup, total = config->steps - config->warmup;
    switch (config->kind) {
    case SCHEDULE_COSINE: return anneal(config->lr, config->min, (double)t / (double)total);
    case SCHEDULE_STEP: return config->lr * elementary_power(config->gamma, t / config->interval);
    case SCHEDULE_EXPONENTIAL: return config->lr * elementary_power(config->gamma, t);
    case SCHEDULE_ONECYCLE: return one_cycle(config, (double)t, (double)total);
    case SCHEDULE_CONSTANT:
    case SCHEDULE_KIND_COUNT: break;
    }
    return config->lr;
}

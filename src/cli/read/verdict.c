#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

/* A gap between the modes is one from 5 points on, a running mean far off from half a standard deviation on: both well above what
 * batches of a hundred images scatter, and well below what the failing runs show (gaps of 40 to 90 points, lags of 1 to 2). */
#define GAP 0.05
#define LAG 0.5
/* The variance is off where it is more than this factor from the fresh one, up or down. */
#define RATIO 1.5

/* What of the checks matters; indices are of the worst ones. */
struct findings {
    size_t checks, gaps, stale;         /* made; with a gap; with a gap and a lag */
    size_t first_stale, worst_gap, worst_lag, worst_ratio, last_reest;
    bool has_lag, has_reest;
};

static double gap_of(const struct history_check *check)
{
    return check->acc_train - check->acc_eval;
}

static struct findings find(const struct history *history)
{
    struct findings found = {0};
    double gap = -INFINITY, lag = -1, ratio = -1;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_check *check = &history->checks[i];
        if (isnan(check->acc_eval))
            continue;
        found.checks++;
        found.has_lag = found.has_lag || !isnan(check->lag);
        if (gap_of(check) > gap) {
            gap = gap_of(check);
            found.worst_gap = i;
        }
        if (fabs(check->lag) > lag) {
            lag = fabs(check->lag);
            found.worst_lag = i;
        }
        if (fabs(log(check->var_ratio)) > ratio) {
            ratio = fabs(log(check->var_ratio));
            found.worst_ratio = i;
        }
        if (!isnan(check->reest)) {
            found.has_reest = true;
            found.last_reest = i;
        }
        found.gaps += gap_of(check) >= GAP;
        if (gap_of(check) >= GAP && fabs(check->lag) >= LAG && found.stale++ == 0)
            found.first_stale = i;
    }
    return found;
}

static void print_channel(const struct frame *frame, size_t channel, FILE *out)
{
    size_t layer = (size_t)frame->channel_layer[channel] - 1;
    fprintf(out, "%s, channel %" PRId64, layer < frame->extent->layers ? frame->layers[layer] : "?", frame->channel_index[channel]);
}

static void print_evidence(const struct frame *frame, const struct history *history, const struct findings *found, FILE *out)
{
    const struct history_check *gap = &history->checks[found->worst_gap], *lag = &history->checks[found->worst_lag];
    fprintf(out, "  largest gap between the modes: %.1f points (training mode %.1f%%, evaluation mode %.1f%%) at step %" PRId64 "\n",
            100 * gap_of(gap), 100 * gap->acc_train, 100 * gap->acc_eval, gap->step);
    if (!found->has_lag)
        return;
    fprintf(out, "  farthest running mean: %+.2f standard deviations (", lag->lag);
    print_channel(frame, lag->lag_channel, out);
    fprintf(out, ") at step %" PRId64 "\n", lag->step);
    lag = &history->checks[found->worst_ratio];
    fprintf(out, "  farthest running variance: %.2f times the fresh one (", lag->var_ratio);
    print_channel(frame, lag->var_channel, out);
    fprintf(out, ") at step %" PRId64 "\n", lag->step);
}

static void print_reestimate(const struct history *history, const struct findings *found, FILE *out)
{
    const struct history_check *check = &history->checks[found->last_reest];
    if (found->has_reest)
        fprintf(out, "  re-estimating the statistics gave %.1f%% at step %" PRId64 ", where evaluation mode had %.1f%%\n",
                100 * check->reest, check->step, 100 * check->acc_eval);
    else if (found->gaps)
        fprintf(out, "  re-estimating them was not measured (reest)\n");
}

void verdict_print(const struct frame *frame, const struct history *history, FILE *out)
{
    struct findings found = find(history);
    if (!found.checks) {
        fprintf(out, "verdict: none, no check was made\n");
        return;
    }
    bool ratio_off = fabs(log(history->checks[found.worst_ratio].var_ratio)) >= log(RATIO);
    if (!found.has_lag)
        fprintf(out, "verdict: the network has no running statistics that could go stale\n");
    else if (found.stale)
        fprintf(out, "verdict: THE RUNNING STATISTICS ARE STALE at %zu of %zu checks, the first at step %" PRId64 "\n", found.stale,
                found.checks, history->checks[found.first_stale].step);
    else if (found.gaps)
        fprintf(out, "verdict: evaluation mode falls behind at %zu of %zu checks, and no running mean is far off there%s\n", found.gaps,
                found.checks, ratio_off ? "; a running variance is" : ": look for another cause");
    else if (fabs(history->checks[found.worst_lag].lag) >= LAG)
        fprintf(out, "verdict: a running mean lags, but evaluation mode does not suffer from it (yet)\n");
    else
        fprintf(out, "verdict: the running statistics are up to date\n");
    print_evidence(frame, history, &found, out);
    print_reestimate(history, &found, out);
}

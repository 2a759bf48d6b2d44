#include "bnsweep/measure/reestimate.h"

#include <string.h>

/* sums += the batch's mean and unbiased variance; held layers are left at 0. */
static void add_batch(const struct pass *pass, const bool *held, struct running_batch *sums)
{
    for (size_t i = 0; i < pass->net->config.blocks; i++) {
        const struct net_block *block = &pass->net->block[i];
        double count = (double)(pass->n * block->conv.h * block->conv.w), unbiased = count / (count - 1);
        for (size_t c = block->first_channel; !held[i] && c < block->first_channel + block->conv.cout; c++) {
            sums->mean[c] += pass->batch.mean[c];
            sums->var[c] += pass->batch.var[c] * unbiased;
        }
    }
}

static void set_average(const struct net *net, const bool *held, const struct running *held_statistics,
                        const struct running_batch *sums, double batches, struct running *average)
{
    for (size_t i = 0; i < net->config.blocks; i++) {
        const struct net_block *block = &net->block[i];
        for (size_t c = block->first_channel; c < block->first_channel + block->conv.cout; c++) {
            average->mean[c] = held[i] ? held_statistics->mean[c] : (real)(sums->mean[c] / batches);
            average->var[c] = held[i] ? held_statistics->var[c] : (real)(sums->var[c] / batches);
        }
    }
}

enum status reestimate(struct pass *pass, struct task *task, const bool *held, const struct running *held_statistics,
                       const real *weights, size_t n, const uint64_t *counts, struct running *average,
                       struct running_batch *sums, reestimate_visit *visit, void *context)
{
    const struct net *net = pass->net;
    struct running_mode mode = {.running = held_statistics, .held = held, .plain = true};
    uint64_t done = 0;
    memset(sums->mean, 0, net->channels * sizeof(double));
    memset(sums->var, 0, net->channels * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (; done < counts[i]; done++) {
            double loss;
            task_batch(task, TASK_REESTIMATE, done, pass->x, pass->labels);
            enum status status = pass_forward(pass, &mode, weights, &loss);
            if (status)
                return status;
            add_batch(pass, held, sums);
        }
        set_average(net, held, held_statistics, sums, (double)done, average);
        visit(context, i, average);
    }
    return STATUS_OK;
}

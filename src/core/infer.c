#include "bnsweep/core/infer.h"

#include "bnsweep/core/fused_infer.h"
#include "bnsweep/core/layers.h"
#include "bnsweep/core/packed.h"
#include "bnsweep/core/plain_infer.h"

#include <string.h>

enum { MOST_ROOM = 64 << 20 }; /* bytes: the article's network and 4,000 images want 62.5 MiB */

size_t infer_room(const struct net *net, size_t n)
{
    size_t smallest = SIZE_MAX, most = MOST_ROOM / sizeof(real);
    for (size_t i = 0; net->engine->block && !net_is_grouped(net) && i < net->config.blocks; i++) {
        size_t size = net->block[i].out_h * net->block[i].out_w * packed_channels(net->block[i].conv.cout);
        smallest = size < smallest ? size : smallest;
    }
    if (smallest == SIZE_MAX)
        return 0;
    return n < most / smallest ? n * smallest : most;
}

enum status infer_create(struct infer *infer, const struct net *net, struct room room, struct arena *arena)
{
    *infer = (struct infer){.net = net};
    infer->features = arena_array(arena, net->features, INFER_MAX_TRANSFORMS * INFER_CHUNK * sizeof(real));
    infer->logits = arena_array(arena, net->config.classes, INFER_CHUNK * sizeof(real));
    if (!infer->features || !infer->logits)
        return STATUS_NOMEM;
    if (net->engine->block) {
        infer->fused = arena_array(arena, 1, sizeof *infer->fused);
        return infer->fused ? fused_infer_create(infer->fused, net, room, arena) : STATUS_NOMEM;
    }
    infer->plain = arena_array(arena, 1, sizeof *infer->plain);
    return infer->plain ? plain_infer_create(infer->plain, net, arena) : STATUS_NOMEM;
}

static size_t image_size(const struct net *net)
{
    return net->config.image_h * net->config.image_w * net->config.image_channels;
}

/* Add one chunk's loss and correct answers to a score that holds sums. */
static void add_score(struct infer *infer, const real *weights, size_t n, const real *features, const int32_t *labels,
                      struct infer_score *sums)
{
    const struct net *net = infer->net;
    layers_linear(n, net->features, net->config.classes, features, weights + net->params[net->linear_weight].offset,
                  weights + net->params[net->linear_bias].offset, infer->logits);
    sums->loss += layers_cross_entropy(n, net->config.classes, infer->logits, labels, NULL);
    sums->accuracy += (double)layers_correct(n, net->config.classes, infer->logits, labels);
}

static void finish_scores(size_t count, size_t n, struct infer_score *sums)
{
    for (size_t t = 0; t < count; t++) {
        sums[t].loss /= (double)n;
        sums[t].accuracy /= (double)n;
    }
}

/* Score the set whose statistics were taken last with the transform that they gave. */
static struct infer_score score_again(struct infer *infer, const real *weights, const struct batchnorm_transform *transform,
                                      const struct infer_set *set)
{
    struct infer_score score = {0};
    for (size_t i = 0; i < set->n; i += INFER_CHUNK) {
        size_t here = set->n - i < INFER_CHUNK ? set->n - i : INFER_CHUNK;
        const real *x = set->x + i * image_size(infer->net);
        if (infer->fused)
            fused_infer_again(infer->fused, weights, i, here, x, transform, infer->features);
        else
            plain_infer_features(infer->plain, weights, here, x, 1, &transform, infer->features);
        add_score(infer, weights, here, infer->features, set->labels + i, &score);
    }
    finish_scores(1, set->n, &score);
    return score;
}

/* A block's moments over the set; the blocks before it normalise with `transform`. */
static const struct moments *block_moments(struct infer *infer, size_t target, const real *weights, const struct infer_set *set,
                                           const struct batchnorm_transform *transform)
{
    struct moments *moments = infer->fused ? &infer->fused->block[target].moments : &infer->plain->moments[target];
    moments_reset(moments);
    if (infer->fused)
        fused_infer_begin(infer->fused, target, set->n);
    for (size_t i = 0; i < set->n; i += INFER_CHUNK) {
        size_t here = set->n - i < INFER_CHUNK ? set->n - i : INFER_CHUNK;
        const real *x = set->x + i * image_size(infer->net);
        if (infer->fused)
            fused_infer_moments(infer->fused, weights, target, i, here, x, transform);
        else
            plain_infer_moments(infer->plain, weights, target, here, x, transform);
    }
    if (infer->fused)
        fused_infer_end(infer->fused, target);
    return moments;
}

void infer_statistics(struct infer *infer, const struct running_mode *mode, const real *weights, const struct infer_set *set,
                      struct running_batch *batch, struct batchnorm_transform *transform, struct infer_score *score)
{
    const struct net *net = infer->net;
    if (infer->fused)
        fused_infer_set(infer->fused, weights);
    for (size_t target = 0; target < net->config.blocks; target++) {
        const struct moments *moments = block_moments(infer, target, weights, set, transform);
        const struct net_block *block = &net->block[target];
        for (size_t c = 0; c < block->conv.cout; c++) {
            batch->mean[block->first_channel + c] = moments->mean[c];
            batch->var[block->first_channel + c] = moments->deviations[c] / moments->count;
        }
        if (net_has_running(net))
            running_training(net, target, mode, batch, transform);
    }
    if (score)
        *score = score_again(infer, weights, transform, set);
}

static void evaluate(struct infer *infer, const real *weights, size_t count, const struct batchnorm_transform *const *transforms,
                     const struct infer_set *set, struct infer_score *scores)
{
    const struct net *net = infer->net;
    for (size_t i = 0; i < set->n; i += INFER_CHUNK) {
        size_t here = set->n - i < INFER_CHUNK ? set->n - i : INFER_CHUNK;
        const real *x = set->x + i * image_size(net);
        if (infer->fused)
            fused_infer_features(infer->fused, weights, here, x, count, transforms, infer->features);
        else
            plain_infer_features(infer->plain, weights, here, x, count, transforms, infer->features);
        for (size_t t = 0; t < count; t++)
            add_score(infer, weights, here, infer->features + t * INFER_CHUNK * net->features, set->labels + i, &scores[t]);
    }
    finish_scores(count, set->n, scores);
}

void infer_evaluate_all(struct infer *infer, const real *weights, size_t count, const struct batchnorm_transform *const *transforms,
                        const struct infer_set *set, struct infer_score *scores)
{
    memset(scores, 0, count * sizeof *scores);
    if (infer->fused)
        fused_infer_set(infer->fused, weights);
    for (size_t t = 0; t < count; t += INFER_MAX_TRANSFORMS)
        evaluate(infer, weights, count - t < INFER_MAX_TRANSFORMS ? count - t : INFER_MAX_TRANSFORMS, transforms + t, set, scores + t);
}

struct infer_score infer_evaluate(struct infer *infer, const real *weights, const struct batchnorm_transform *transform,
                                  const struct infer_set *set)
{
    struct infer_score score;
    infer_evaluate_all(infer, weights, 1, &transform, set, &score);
    return score;
}

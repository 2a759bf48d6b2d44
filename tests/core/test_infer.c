/* Passes over many images in chunks against one training pass over all of them; and that nothing is written. */
#include "small_net.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/core/infer.h"
#include "bnsweep/core/layers.h"

enum { IMAGES = 37 }; /* two chunks and five */

static struct hash everything(const struct small_net *small)
{
    struct hash weights = hash_bytes(small->weights, small->net.size * sizeof(real));
    struct hash mean = hash_bytes(small->running.mean, small->net.channels * sizeof(real));
    return hash_combine(weights, hash_combine(mean, hash_bytes(small->running.var, small->net.channels * sizeof(real))));
}

static void assert_agrees(const struct net_config *config, const bool *held, double step)
{
    struct small_net small;
    struct infer infer;
    struct running_batch batch;
    struct batchnorm_transform transform;
    small_net_create(&small, config, IMAGES);
    assert_ok(infer_create(&infer, &small.net, (struct room){0}, &small.arena));
    assert_ok(running_batch_create(&batch, &small.net, &small.arena));
    assert_ok(running_transform_create(&transform, &small.net, &small.arena));
    struct infer_set set = {IMAGES, small.pass.x, small.pass.labels};
    struct hash before = everything(&small);
    small.mode.step = step;
    memcpy(small.held, held, 2 * sizeof *held);
    double loss = small_net_loss(&small);
    infer_statistics(&infer, &small.mode, small.weights, &set, &batch, &transform, NULL);
    struct infer_score score = infer_evaluate(&infer, small.weights, &transform, &set);
    assert_near(score.loss, loss, 64 * NUMBERS_ROUNDING);
    assert_near(score.accuracy, (double)layers_correct(IMAGES, config->classes, small.pass.logits, small.pass.labels) / IMAGES,
                1e-15);
    for (size_t c = 0; net_has_running(&small.net) && c < small.net.channels; c++) {
        if (held[c >= 5])
            continue; /* the pass has no batch statistics of a held layer */
        assert_near(batch.mean[c], small.pass.batch.mean[c], 64 * NUMBERS_ROUNDING);
        assert_near(batch.var[c], small.pass.batch.var[c], 64 * NUMBERS_ROUNDING);
        assert_near(transform.r[c], small.pass.transform.r[c], 1e-3 * (sizeof(real) == 4) + 1e-9);
    }
    running_evaluation(&small.net, &small.running, &transform);
    infer_evaluate(&infer, small.weights, &transform, &set);
    assert_true(hash_equal(before, everything(&small)));
    small_net_free(&small);
}

static void a_set_is_one_batch_for_every_norm(void **state)
{
    (void)state;
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
        struct net_config config = small_net_config();
        config.norm = (enum norm_kind)norm;
        config.channels[1] = 10;
        config.groups = 5;
        assert_agrees(&config, (const bool[]){false, false}, 1000);
        config.conv_bias = true;
        assert_agrees(&config, (const bool[]){false, false}, 0);
    }
}

static void held_layers_and_clipped_corrections(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    assert_agrees(&config, (const bool[]){true, false}, 0);
    assert_agrees(&config, (const bool[]){false, true}, 0);
    assert_agrees(&config, (const bool[]){true, true}, 0);
    config.norm = NORM_BATCHRENORM;
    assert_agrees(&config, (const bool[]){true, false}, 15);
    assert_agrees(&config, (const bool[]){false, false}, 15);
}

/* Evaluation treats every image by itself: a set scores as its images do one by one. */
static void evaluation_does_not_see_the_batch(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    struct infer infer;
    struct batchnorm_transform transform;
    double accuracy = 0, loss = 0;
    small_net_create(&small, &config, IMAGES);
    assert_ok(infer_create(&infer, &small.net, (struct room){0}, &small.arena));
    assert_ok(running_transform_create(&transform, &small.net, &small.arena));
    running_evaluation(&small.net, &small.running, &transform);
    for (size_t i = 0; i < IMAGES; i++) {
        struct infer_set one = {1, small.pass.x + i * 7 * 6 * 2, small.pass.labels + i};
        struct infer_score score = infer_evaluate(&infer, small.weights, &transform, &one);
        accuracy += score.accuracy / IMAGES;
        loss += score.loss / IMAGES;
    }
    struct infer_score all =
        infer_evaluate(&infer, small.weights, &transform, &(struct infer_set){IMAGES, small.pass.x, small.pass.labels});
    assert_near(all.accuracy, accuracy, 1e-14);
    assert_near(all.loss, loss, 16 * NUMBERS_ROUNDING);
    small_net_free(&small);
}

/* The held layer's transform is evaluation mode's own; fresh statistics of the set put in its place give training mode. */
static void fresh_statistics_make_evaluation_training(void **state)
{
    (void)state;
    struct net_config config = small_net_config();
    struct small_net small;
    struct infer infer;
    struct running_batch batch;
    struct batchnorm_transform training, evaluation;
    small_net_create(&small, &config, IMAGES);
    assert_ok(infer_create(&infer, &small.net, (struct room){0}, &small.arena));
    assert_ok(running_batch_create(&batch, &small.net, &small.arena));
    assert_ok(running_transform_create(&training, &small.net, &small.arena));
    assert_ok(running_transform_create(&evaluation, &small.net, &small.arena));
    struct infer_set set = {IMAGES, small.pass.x, small.pass.labels};
    infer_statistics(&infer, &small.mode, small.weights, &set, &batch, &training, NULL);
    running_evaluation_batch(&small.net, &batch, &evaluation);
    struct infer_score a = infer_evaluate(&infer, small.weights, &training, &set),
                       b = infer_evaluate(&infer, small.weights, &evaluation, &set);
    assert_true(a.loss == b.loss && a.accuracy == b.accuracy);
    assert_false(evaluation.batch);
    small_net_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_one_batch_for_every_norm),
        cmocka_unit_test(held_layers_and_clipped_corrections),
        cmocka_unit_test(evaluation_does_not_see_the_batch),
        cmocka_unit_test(fresh_statistics_make_evaluation_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Re-estimation: the plain average of batches' statistics, unbiased variances, on a copy. */
#include "small_net.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/core/infer.h"
#include "bnsweep/measure/reestimate.h"

enum { BATCH = 8, TRAIN = 24, IMAGE = 2 * 7 * 6, CHANNELS = 11 };

static float train_x[TRAIN * IMAGE];
static int32_t train_y[TRAIN];
static struct task_images images = {2, 7, 6, TRAIN, TRAIN, train_x, train_x, train_y, train_y};

static struct small_net small;
static struct task task;
static struct running average;
static struct running_batch sums;

/* What visits saw: how many batches, and the averages. */
static struct {
    size_t count;
    double mean[4][CHANNELS], var[4][CHANNELS];
} seen;

static void visit(void *context, size_t index, const struct running *statistics)
{
    assert_ptr_equal(context, &seen);
    assert_int_equal(index, seen.count++);
    for (size_t c = 0; c < CHANNELS; c++) {
        seen.mean[index][c] = (double)statistics->mean[c];
        seen.var[index][c] = (double)statistics->var[c];
    }
}

/* A file of `train` images in batches of BATCH, in order. */
static void create(enum norm_kind norm, size_t train)
{
    struct net_config config = small_net_config();
    uint64_t seed = 4;
    config.norm = norm;
    for (size_t i = 0; i < TRAIN * IMAGE; i++)
        train_x[i] = (float)numbers_next(&seed);
    images.train_n = train;
    small_net_create(&small, &config, BATCH);
    struct task_config data = {.data = DATA_FILE, .order = ORDER_SEQUENTIAL, .classes = 3, .image_channels = 2, .image_h = 7,
                               .image_w = 6, .images = &images, .batch = BATCH, .val_size = train};
    assert_ok(task_create(&task, &data, &small.arena));
    assert_ok(running_create(&average, &small.net, 1, &small.arena));
    assert_ok(running_batch_create(&sums, &small.net, &small.arena));
    seen.count = 0;
}

static enum status run(size_t n, const uint64_t *counts)
{
    return reestimate(&small.pass, &task, small.held, &small.running, small.weights, n, counts, &average, &sums, visit, &seen);
}

static double unbiased(size_t c)
{
    double count = BATCH * (c < 5 ? 42.0 : 9.0);
    return count / (count - 1);
}

/* One and the same batch again and again: the set's fresh statistics, but for the unbiased factor, however many there are. */
static void the_same_batch_gives_fresh_statistics(void **state)
{
    (void)state;
    for (int norm = NORM_BATCH; norm <= NORM_BATCHRENORM; norm += NORM_BATCHRENORM - NORM_BATCH) {
        struct running_batch fresh;
        struct batchnorm_transform transform;
        struct infer infer;
        create((enum norm_kind)norm, BATCH);
        assert_ok(infer_create(&infer, &small.net, (struct room){0}, &small.arena));
        assert_ok(running_batch_create(&fresh, &small.net, &small.arena));
        assert_ok(running_transform_create(&transform, &small.net, &small.arena));
        assert_ok(run(3, (const uint64_t[]){1, 2, 5}));
        assert_int_equal(seen.count, 3);
        infer_statistics(&infer, &small.mode, small.weights, &(struct infer_set){BATCH, task.val_x, task.val_y}, &fresh,
                         &transform, NULL);
        for (size_t c = 0; c < CHANNELS; c++)
            for (size_t i = 0; i < 3; i++) {
                assert_near(seen.mean[i][c], fresh.mean[c], 64 * NUMBERS_ROUNDING);
                assert_near(seen.var[i][c], fresh.var[c] * unbiased(c), 64 * NUMBERS_ROUNDING);
            }
        small_net_free(&small);
    }
}

/* Different batches: the average of each one's own statistics, none weighted more. */
static void batches_are_averaged_plainly(void **state)
{
    (void)state;
    double mean[CHANNELS] = {0}, var[CHANNELS] = {0};
    create(NORM_BATCH, TRAIN);
    for (uint64_t i = 0; i < 3; i++) {
        task_batch(&task, TASK_REESTIMATE, i, small.pass.x, small.pass.labels);
        small_net_loss(&small);
        for (size_t c = 0; c < CHANNELS; c++) {
            mean[c] += small.pass.batch.mean[c] / 3;
            var[c] += small.pass.batch.var[c] * unbiased(c) / 3;
        }
    }
    assert_ok(run(2, (const uint64_t[]){1, 3}));
    for (size_t c = 0; c < CHANNELS; c++) {
        assert_near(seen.mean[1][c], mean[c], 4 * NUMBERS_ROUNDING);
        assert_near(seen.var[1][c], var[c], 4 * NUMBERS_ROUNDING * (1 + var[c]));
        assert_true(seen.mean[0][c] != seen.mean[1][c]);
    }
    small_net_free(&small);
}

static void it_works_on_a_copy(void **state)
{
    (void)state;
    create(NORM_BATCH, TRAIN);
    struct hash mean = hash_bytes(small.running.mean, CHANNELS * sizeof(real)),
                var = hash_bytes(small.running.var, CHANNELS * sizeof(real));
    struct hash weights = hash_bytes(small.weights, small.net.size * sizeof(real));
    assert_ok(run(1, (const uint64_t[]){3}));
    assert_true(hash_equal(mean, hash_bytes(small.running.mean, CHANNELS * sizeof(real))));
    assert_true(hash_equal(var, hash_bytes(small.running.var, CHANNELS * sizeof(real))));
    assert_true(hash_equal(weights, hash_bytes(small.weights, small.net.size * sizeof(real))));
    small_net_free(&small);
}

static void held_layers_keep_their_own(void **state)
{
    (void)state;
    create(NORM_BATCH, TRAIN);
    small.held[0] = true;
    assert_ok(run(1, (const uint64_t[]){3}));
    for (size_t c = 0; c < CHANNELS; c++) {
        assert_int_equal(seen.mean[0][c] == (double)small.running.mean[c], c < 5);
        assert_int_equal(seen.var[0][c] == (double)small.running.var[c], c < 5);
    }
    small_net_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_batch_gives_fresh_statistics),
        cmocka_unit_test(batches_are_averaged_plainly),
        cmocka_unit_test(it_works_on_a_copy),
        cmocka_unit_test(held_layers_keep_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

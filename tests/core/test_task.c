/* The data: templates in noise, and images from memory in order or shuffled, each once an epoch. */
#include "numbers.h"

#include <stdbool.h>

#include "bnsweep/core/rng.h"
#include "bnsweep/core/task.h"

enum { C = 3, H = 5, W = 3, IMAGE = C * H * W, CLASSES = 4, BATCH = 6, TRAIN = 27, VAL = 9 };

static struct task_config templates(void)
{
    return (struct task_config){.data = DATA_TEMPLATES, .noise = 1, .signal = 0.6, .classes = CLASSES, .image_channels = C,
                                .image_h = H, .image_w = W, .seed = 3, .task_seed = 4, .batch = BATCH, .val_size = VAL};
}

/* Image i of the training set holds 1000 i + its place in [c][h][w]; its label is i % CLASSES. */
static float train_x[TRAIN * IMAGE], val_x[VAL * IMAGE];
static int32_t train_y[TRAIN], val_y[VAL];
static const struct task_images images = {C, H, W, TRAIN, VAL, train_x, val_x, train_y, val_y};

static struct task_config file(enum order_kind order)
{
    struct task_config config = templates();
    for (size_t i = 0; i < TRAIN * IMAGE; i++)
        train_x[i] = (float)(1000 * (i / IMAGE) + i % IMAGE);
    for (size_t i = 0; i < VAL * IMAGE; i++)
        val_x[i] = (float)i;
    for (int i = 0; i < TRAIN; i++)
        train_y[i] = i % CLASSES;
    for (int i = 0; i < VAL; i++)
        val_y[i] = i % CLASSES;
    config.data = DATA_FILE;
    config.order = order;
    config.images = &images;
    return config;
}

static void create(struct task *task, struct task_config config, struct arena *arena)
{
    assert_ok(task_create(task, &config, arena));
}

/* x = signal template + noise z, straight from the streams. */
static void templates_are_what_they_say(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    float template[CLASSES * IMAGE], z[VAL * IMAGE + 4];
    int32_t labels[BATCH > VAL ? BATCH : VAL], y[BATCH];
    real x[BATCH * IMAGE];
    create(&task, templates(), &arena);
    rng_normals((struct rng_stream){4, RNG_TEMPLATE, 0}, 0, CLASSES * IMAGE, template);
    rng_normals((struct rng_stream){4, RNG_VAL_NOISE, 0}, 0, VAL * IMAGE, z);
    rng_integers((struct rng_stream){4, RNG_VAL_LABEL, 0}, CLASSES, VAL, labels);
    for (size_t j = 0; j < VAL * IMAGE; j++)
        assert_near(task.val_x[j], 0.6 * (double)template[(size_t)labels[j / IMAGE] * IMAGE + j % IMAGE] + (double)z[j], 1e-6);
    assert_memory_equal(task.val_y, labels, sizeof task.val_y[0] * VAL);
    for (int use = TASK_TRAIN; use <= TASK_REESTIMATE; use++) {
        task_batch(&task, (enum task_use)use, 7, x, y);
        rng_normals((struct rng_stream){3, use ? RNG_REEST_NOISE : RNG_BATCH_NOISE, 7}, 0, BATCH * IMAGE, z);
        rng_integers((struct rng_stream){3, use ? RNG_REEST_LABEL : RNG_BATCH_LABEL, 7}, CLASSES, BATCH, labels);
        assert_memory_equal(y, labels, sizeof y);
        for (size_t j = 0; j < BATCH * IMAGE; j++)
            assert_near(x[j], 0.6 * (double)template[(size_t)y[j / IMAGE] * IMAGE + j % IMAGE] + (double)z[j], 1e-6);
    }
    arena_free(&arena);
}

static void batches_depend_on_their_number_alone(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    real first[BATCH * IMAGE], x[BATCH * IMAGE];
    int32_t first_y[BATCH], y[BATCH];
    const struct task_config configs[] = {templates(), file(ORDER_SEQUENTIAL), file(ORDER_SHUFFLED)};
    for (size_t i = 0; i < 3; i++) {
        create(&task, configs[i], &arena);
        task_batch(&task, TASK_TRAIN, 9, first, first_y);
        for (uint64_t other = 0; other < 20; other++) {
            task_batch(&task, other % 2 ? TASK_TRAIN : TASK_REESTIMATE, other, x, y);
            task_batch(&task, TASK_REESTIMATE, 9, x, y); /* the same epoch's other order */
            task_batch(&task, TASK_TRAIN, 9, x, y);
            assert_memory_equal(x, first, sizeof x);
            assert_memory_equal(y, first_y, sizeof y);
        }
        task_batch(&task, TASK_TRAIN, 10, x, y);
        assert_memory_not_equal(x, first, sizeof x);
    }
    arena_free(&arena);
}

static void seeds_move_batches_and_the_task_seed_the_task(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task, other_seed, other_task;
    real x[BATCH * IMAGE], y[BATCH * IMAGE];
    int32_t labels[BATCH];
    struct task_config config = templates();
    create(&task, config, &arena);
    config.seed = 99;
    create(&other_seed, config, &arena);
    config.seed = 3;
    config.task_seed = 99;
    create(&other_task, config, &arena);
    assert_memory_equal(task.val_x, other_seed.val_x, sizeof(real) * VAL * IMAGE);
    assert_memory_equal(task.templates, other_seed.templates, sizeof(float) * CLASSES * IMAGE);
    assert_memory_not_equal(task.val_x, other_task.val_x, sizeof(real) * VAL * IMAGE);
    assert_memory_not_equal(task.templates, other_task.templates, sizeof(float) * CLASSES * IMAGE);
    task_batch(&task, TASK_TRAIN, 0, x, labels);
    task_batch(&other_seed, TASK_TRAIN, 0, y, labels);
    assert_memory_not_equal(x, y, sizeof x);
    arena_free(&arena);
}

/* Which training image stands at place i of the batch, told by its values; all of them are checked. */
static size_t image_of(const real *x, const int32_t *y, size_t i)
{
    size_t image = (size_t)((double)x[i * IMAGE] / 1000);
    assert_int_equal(y[i], image % CLASSES);
    for (size_t p = 0; p < H * W; p++)
        for (size_t c = 0; c < C; c++)
            assert_true(x[i * IMAGE + p * C + c] == (real)train_x[image * IMAGE + c * H * W + p]);
    return image;
}

/* 27 images in batches of 6: four batches an epoch, the last three images left out. */
static void sequential_epochs(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    real x[BATCH * IMAGE];
    int32_t y[BATCH];
    create(&task, file(ORDER_SEQUENTIAL), &arena);
    for (uint64_t batch = 0; batch < 9; batch++)
        for (int use = TASK_TRAIN; use <= TASK_REESTIMATE; use++) {
            task_batch(&task, (enum task_use)use, batch, x, y);
            for (size_t i = 0; i < BATCH; i++)
                assert_int_equal(image_of(x, y, i), batch % 4 * BATCH + i);
        }
    for (size_t j = 0; j < VAL * IMAGE; j++) {
        size_t i = j / IMAGE, p = j % IMAGE / C, c = j % C;
        assert_true(task.val_x[j] == (real)val_x[i * IMAGE + c * H * W + p]);
    }
    arena_free(&arena);
}

/* Each image at most once an epoch; which three are left out changes; every epoch and use has its own order. */
static void shuffled_epochs(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    size_t order[2][5][4 * BATCH];
    bool ever[TRAIN] = {false};
    real x[BATCH * IMAGE];
    int32_t y[BATCH];
    create(&task, file(ORDER_SHUFFLED), &arena);
    for (int use = 0; use < 2; use++)
        for (size_t epoch = 0; epoch < 5; epoch++) {
            bool seen[TRAIN] = {false};
            for (size_t batch = 0; batch < 4; batch++) {
                task_batch(&task, (enum task_use)use, epoch * 4 + batch, x, y);
                for (size_t i = 0; i < BATCH; i++) {
                    size_t image = order[use][epoch][batch * BATCH + i] = image_of(x, y, i);
                    assert_false(seen[image]);
                    seen[image] = ever[image] = true;
                }
            }
        }
    for (size_t a = 0; a < 10; a++)
        for (size_t b = 0; b < a; b++)
            assert_memory_not_equal(order[a / 5][a % 5], order[b / 5][b % 5], sizeof order[0][0]);
    for (size_t i = 0; i < TRAIN; i++)
        assert_true(ever[i]);
    arena_free(&arena);
}

static void one_batch_may_be_the_whole_epoch(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct task task;
    static real x[TRAIN * IMAGE];
    int32_t y[TRAIN];
    bool seen[TRAIN] = {false};
    struct task_config config = file(ORDER_SHUFFLED);
    config.batch = TRAIN;
    config.val_size = 1;
    create(&task, config, &arena);
    task_batch(&task, TASK_TRAIN, 1234567890123, x, y);
    for (size_t i = 0; i < TRAIN; i++)
        seen[image_of(x, y, i)] = true;
    for (size_t i = 0; i < TRAIN; i++)
        assert_true(seen[i]);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_are_what_they_say),
        cmocka_unit_test(batches_depend_on_their_number_alone),
        cmocka_unit_test(seeds_move_batches_and_the_task_seed_the_task),
        cmocka_unit_test(sequential_epochs),
        cmocka_unit_test(shuffled_epochs),
        cmocka_unit_test(one_batch_may_be_the_whole_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

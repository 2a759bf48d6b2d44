/* A run that is stopped after every single step, saved, and taken up by a new trajectory each time gives the bits of one that is
 * not: every record, the final weights and statistics; for every optimizer, norm and schedule. */
#include "small_run.h"

#include <unistd.h>

#include "bnsweep/run/state.h"

static char folder[] = "/tmp/bnsweep-resume-XXXXXX", path[64];
static const struct hash key = {1, 2};

static int open_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/state", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails where a temporary file was left */
}

/* Drop the unit records that a new trajectory sends again. */
static void drop_repeated(struct small_run_records *records, size_t before)
{
    while (records->count > before)
        free(records->list[--records->count].values);
}

static void assert_resumes(const struct trajectory_config *config, uint64_t stride)
{
    struct small_run_records whole = {0}, pieces = {0};
    struct trajectory *straight = small_run_create(config, &whole), *t = small_run_create(config, &pieces);
    small_run_steps(straight, config->plan.steps);
    for (uint64_t step = 0; step < config->plan.steps; step += stride) {
        size_t before = pieces.count;
        t->seconds = 1.5 * (double)step;
        assert_ok(state_save(t, path, key));
        trajectory_free(t);
        t = small_run_create(config, &pieces);
        drop_repeated(&pieces, before);
        assert_ok(state_load(t, path, key));
        assert_int_equal(t->step, step);
        assert_true(t->seconds == 1.5 * (double)step);
        small_run_steps(t, step + stride < config->plan.steps ? step + stride : config->plan.steps);
    }
    assert_int_equal(pieces.count, whole.count);
    for (size_t i = 0; i < whole.count; i++)
        assert_true(whole.list[i].unit == pieces.list[i].unit && small_run_same(&whole.list[i], &pieces.list[i]));
    assert_true(hash_equal(trajectory_weights_hash(straight), trajectory_weights_hash(t)));
    assert_true(hash_equal(straight->weights_init, t->weights_init));
    for (size_t unit = 0; unit < config->momenta_count; unit++)
        assert_true(hash_equal(trajectory_statistics_hash(straight, unit), trajectory_statistics_hash(t, unit)));
    trajectory_free(straight);
    trajectory_free(t);
    small_run_forget(&whole);
    small_run_forget(&pieces);
}

static void every_optimizer_norm_and_schedule(void **state)
{
    (void)state;
    for (int optim = 0; optim <= OPTIM_KIND_COUNT; optim++) /* the last: plain sgd */
        for (int norm = 0; norm < NORM_KIND_COUNT; norm++)
            for (int schedule = 0; schedule < SCHEDULE_KIND_COUNT; schedule++) {
                struct trajectory_config config = small_run_config();
                config.optim.kind = (enum optim_kind)(optim % OPTIM_KIND_COUNT);
                config.optim.momentum = optim == OPTIM_KIND_COUNT ? 0 : 0.9;
                config.optim.nesterov = norm % 2;
                config.optim.weight_decay = 0.01;
                config.optim.project = schedule % 2;
                config.net.norm = (enum norm_kind)norm;
                config.schedule.kind = (enum schedule_kind)schedule;
                config.schedule.warmup = (uint64_t)norm % 3;
                config.plan.reest = config.plan.swap_layer = config.plan.swap_top = WHEN_LAST;
                config.task.val_size = config.plan.val_size = 8;
                config.plan.steps = config.schedule.steps = 8;
                assert_resumes(&config, 1);
            }
}

static void several_momenta_averages_and_a_freeze(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    config.momenta_count = 3;
    config.momenta[1] = 0.3;
    config.momenta[2] = 0.9;
    config.plan.ema_count = 2;
    config.plan.ema_decays[1] = 0.5;
    config.plan.probe_writes_stats = true;
    assert_resumes(&config, 1);
    config.frozen[1] = true;
    config.freeze_from = 5;
    assert_resumes(&config, 1);
    config.momenta_count = 1;
    config.freeze_stats = FREEZE_STATS_HELD;
    assert_resumes(&config, 1);
}

/* Windows longer than the checks' distance keep several snapshots. */
static void windows_of_every_length(void **state)
{
    (void)state;
    for (uint64_t length = 1; length <= 8; length++)
        for (uint64_t every = 1; every <= 4; every++) {
            struct trajectory_config config = small_run_config();
            config.plan.angle_window = config.plan.first_check = length;
            config.plan.check_every = every;
            config.plan.reest = config.plan.swap_layer = config.plan.swap_top = config.plan.ema = WHEN_NEVER;
            assert_resumes(&config, 1);
            assert_resumes(&config, 5);
        }
}

/* Shuffled files: the order of an epoch derives from its number. */
static void shuffled_files(void **state)
{
    (void)state;
    enum { TRAIN = 20, IMAGE = 2 * 6 * 6 };
    static float x[TRAIN * IMAGE];
    static int32_t y[TRAIN];
    const struct task_images images = {2, 6, 6, TRAIN, TRAIN, x, x, y, y};
    struct trajectory_config config = small_run_config();
    uint64_t seed = 3;
    for (size_t i = 0; i < TRAIN * IMAGE; i++)
        x[i] = (float)numbers_next(&seed);
    for (int i = 0; i < TRAIN; i++)
        y[i] = i % 3;
    config.task.data = DATA_FILE;
    config.task.order = ORDER_SHUFFLED;
    config.task.images = &images;
    assert_resumes(&config, 1);
    assert_resumes(&config, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_optimizer_norm_and_schedule),
        cmocka_unit_test(several_momenta_averages_and_a_freeze),
        cmocka_unit_test(windows_of_every_length),
        cmocka_unit_test(shuffled_files),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}

/* What a trajectory keeps is enough to compute units with other momenta without training: every record and hash to the bit. Where it
 * is not, or was changed, the replay says so. */
#include "small_run.h"

#include "bnsweep/run/keep.h"
#include "bnsweep/run/replay.h"

#include <math.h>

enum { MOMENTA = 2 };

static const double trained_with[] = {0.1}, wanted[MOMENTA] = {0.02, 0.4};

static struct trajectory_config keeping_config(void)
{
    struct trajectory_config config = small_run_config();
    config.plan.keep_batch_stats = true;
    config.plan.ema = WHEN_NEVER;
    return config;
}

/* Train with one momentum until the end, or until it diverges. */
static struct trajectory *train(struct trajectory_config config, size_t count, const double *momenta, struct small_run_records *records)
{
    config.momenta_count = count;
    memcpy(config.momenta, momenta, count * sizeof *momenta);
    struct trajectory *t = small_run_create(&config, records);
    enum status status = STATUS_OK;
    while (!status && t->step < config.plan.steps)
        status = trajectory_step(t);
    assert_true(status == STATUS_OK || status == STATUS_DIVERGED);
    return t;
}

/* A source that reads the kept records of a trained trajectory. */
struct memory {
    const struct small_run_records *records;
    size_t channels;
};

static enum status batches(void *context, uint64_t first, size_t count, double *mean, double *var)
{
    const struct memory *memory = context;
    for (size_t i = 0; i < count; i++) {
        const struct small_run_record *step = small_run_find(memory->records, 0, GROUP_STEP, (uint32_t)(first + i));
        memcpy(mean + i * memory->channels, step->values, memory->channels * sizeof *mean);
        memcpy(var + i * memory->channels, step->values + memory->channels, memory->channels * sizeof *var);
    }
    return STATUS_OK;
}

static void round_all(const struct small_run_record *record, size_t count, float *out)
{
    assert_int_equal(record->count, count);
    for (size_t i = 0; i < count; i++)
        out[i] = (float)record->values[i];
}

static enum status weights(void *context, uint64_t check, size_t count, float *out)
{
    const struct memory *memory = context;
    round_all(small_run_find(memory->records, 0, GROUP_WEIGHTS, (uint32_t)check), count, out);
    return STATUS_OK;
}

static enum status check(void *context, uint64_t index, size_t count, float *out)
{
    const struct memory *memory = context;
    round_all(small_run_find(memory->records, 0, GROUP_CHECK, (uint32_t)index), count, out);
    return STATUS_OK;
}

/* Replay the wanted momenta from the records of `trained`. */
static enum status replay(struct trajectory_config config, const struct trajectory *trained, const struct small_run_records *kept,
                          struct small_run_records *out, struct trajectory **replayed)
{
    struct memory memory = {kept, trained->net.channels};
    struct replay_source source = {&memory, trained->step, batches, weights, check};
    struct replay state;
    config.momenta_count = MOMENTA;
    memcpy(config.momenta, wanted, sizeof wanted);
    struct trajectory *t = *replayed = small_run_create(&config, out);
    enum status status = replay_begin(&state, t, &source);
    while (!status && t->step < trained->step)
        status = replay_step(&state);
    return status;
}

static bool same_floats(const struct small_run_record *a, const struct small_run_record *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        float x = (float)a->values[i], y = (float)b->values[i];
        if (memcmp(&x, &y, sizeof x) != 0)
            return false;
    }
    return true;
}

static void assert_replay_is_training(struct trajectory_config config)
{
    struct small_run_records kept = {0}, truth = {0}, records = {0};
    struct trajectory *source = train(config, 1, trained_with, &kept), *replayed;
    struct trajectory *trained = train(config, MOMENTA, wanted, &truth);
    assert_ok(replay(config, source, &kept, &records, &replayed));
    size_t compared = 0;
    for (size_t i = 0; i < truth.count; i++) {
        const struct small_run_record *record = &truth.list[i];
        if (variables_kept(record->group))
            continue;
        assert_true(same_floats(record, small_run_find(&records, record->unit, record->group, record->index)));
        compared++;
    }
    assert_int_equal(compared, records.count);
    assert_true(compared > 3 * MOMENTA); /* the first weights, two samples, a check */
    for (size_t unit = 0; unit < MOMENTA; unit++)
        assert_true(hash_equal(trajectory_statistics_hash(trained, unit), trajectory_statistics_hash(replayed, unit)));
    assert_true(hash_equal(trained->weights_init, replayed->weights_init));
    assert_int_equal(trained->step, replayed->step);
    trajectory_free(source);
    trajectory_free(trained);
    trajectory_free(replayed);
    small_run_forget(&kept);
    small_run_forget(&truth);
    small_run_forget(&records);
}

static void replays_are_trainings(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    assert_replay_is_training(config);
    config.plan.probe_writes_stats = true;
    assert_replay_is_training(config);
    config.plan.reest = config.plan.swap_layer = config.plan.swap_top = WHEN_FAILING;
    config.task.signal = 3;
    assert_replay_is_training(config);
}

static void frozen_layers_with_live_statistics(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    config.frozen[0] = true;
    config.freeze_from = 3;
    config.plan.swap_top = WHEN_NEVER; /* the frozen channels' angles are all 0: no order by them */
    assert_replay_is_training(config);
}

static void a_trajectory_that_diverges(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    config.optim.kind = OPTIM_SGD;
    config.optim.momentum = 0;
    config.schedule.kind = SCHEDULE_STEP; /* the rate explodes every third step */
    config.schedule.gamma = 1e12;
    config.plan.steps = config.schedule.steps = 40;
    struct small_run_records records = {0};
    struct trajectory *t = train(config, 1, trained_with, &records);
    assert_true(t->step > config.plan.first_check && t->step < config.plan.steps);
    trajectory_free(t);
    small_run_forget(&records);
    assert_replay_is_training(config);
}

/* Kept once, for the first momentum: every step, and the weights at each check. */
static void what_is_kept(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    struct small_run_records records = {0};
    struct trajectory *t = train(config, MOMENTA, wanted, &records);
    size_t steps = 0, checks = 0;
    for (size_t i = 0; i < records.count; i++) {
        steps += records.list[i].group == GROUP_STEP;
        checks += records.list[i].group == GROUP_WEIGHTS;
        if (variables_kept(records.list[i].group))
            assert_int_equal(records.list[i].unit, 0);
    }
    assert_true(steps == 12 && checks == 3);
    assert_int_equal(small_run_find(&records, 0, GROUP_STEP, 11)->count, 16);
    assert_int_equal(small_run_find(&records, 0, GROUP_WEIGHTS, 2)->count, t->net.size);
    trajectory_free(t);
    small_run_forget(&records);
}

static void nothing_is_kept_where_training_reads_the_statistics(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    assert_true(keep_wanted(&config.plan, config.net.norm, config.freeze_stats));
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
        config.net.norm = (enum norm_kind)norm;
        assert_int_equal(keep_wanted(&config.plan, config.net.norm, config.freeze_stats), norm == NORM_BATCH);
        struct small_run_records records = {0};
        struct trajectory *t = train(config, 1, trained_with, &records);
        size_t kept = 0;
        for (size_t i = 0; i < records.count; i++)
            kept += variables_kept(records.list[i].group);
        assert_int_equal(kept, norm == NORM_BATCH ? 15 : 0);
        trajectory_free(t);
        small_run_forget(&records);
    }
    config.net.norm = NORM_BATCH;
    config.freeze_stats = FREEZE_STATS_HELD;
    assert_false(keep_wanted(&config.plan, config.net.norm, config.freeze_stats));
    config.freeze_stats = FREEZE_STATS_LIVE;
    config.plan.keep_batch_stats = false;
    assert_false(keep_wanted(&config.plan, config.net.norm, config.freeze_stats));
}

/* The averages of weights need those of every step. */
static void averages_are_not_replayed(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    assert_true(replay_possible(&config.plan));
    config.plan.ema = WHEN_LAST;
    assert_false(replay_possible(&config.plan));
    config.plan.ema = WHEN_NEVER;
    config.plan.keep_batch_stats = false;
    assert_false(replay_possible(&config.plan));
}

/* Change one stored value, expect the replay to fail with this message, and put it back. */
static void assert_noticed(const struct trajectory_config *config, enum variable_group group, uint32_t index, size_t at, double value,
                           const char *message)
{
    struct small_run_records kept = {0}, records = {0};
    struct trajectory *source = train(*config, 1, trained_with, &kept), *replayed;
    small_run_find(&kept, 0, group, index)->values[at] = value;
    assert_fails(STATUS_MISMATCH, message, replay(*config, source, &kept, &records, &replayed));
    trajectory_free(source);
    trajectory_free(replayed);
    small_run_forget(&kept);
    small_run_forget(&records);
}

static void what_does_not_fit_is_noticed(void **state)
{
    (void)state;
    struct trajectory_config config = keeping_config();
    struct small_run_records kept = {0};
    struct trajectory *t = train(config, 1, trained_with, &kept);
    size_t angle = variables_offset(VARIABLE_angle, &t->extent);
    double other_angle = small_run_find(&kept, 0, GROUP_CHECK, 0)->values[angle + 1];
    assert_noticed(&config, GROUP_STEP, 6, 3, NAN, "the batch statistics of step 7 are not there");
    assert_noticed(&config, GROUP_WEIGHTS, 1, 0, 0.25, "the weights stored at step 7 do not give");
    assert_noticed(&config, GROUP_CHECK, 2, variables_offset(VARIABLE_val_loss_train, &t->extent), 1, "the weights stored at step 10");
    assert_noticed(&config, GROUP_CHECK, 0, angle, other_angle, "two channels have the same stored angle at step 4");
    config.plan.swap_top = WHEN_LAST;
    assert_noticed(&config, GROUP_CHECK, 2, angle, small_run_find(&kept, 0, GROUP_CHECK, 2)->values[angle + 1], "same stored angle at step 10");
    trajectory_free(t);
    small_run_forget(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_are_trainings),
        cmocka_unit_test(frozen_layers_with_live_statistics),
        cmocka_unit_test(a_trajectory_that_diverges),
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(nothing_is_kept_where_training_reads_the_statistics),
        cmocka_unit_test(averages_are_not_replayed),
        cmocka_unit_test(what_does_not_fit_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

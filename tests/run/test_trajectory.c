/* One run: what it sends and when, what its numbers must satisfy, and how it refuses and ends. */
#include "small_run.h"

static double value(const struct trajectory *t, const struct small_run_record *record, enum variable_id id, size_t i)
{
    return record->values[variables_offset(id, &t->extent) + i];
}

static void records_come_as_planned(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    struct small_run_records records = {0};
    struct trajectory *t = small_run_create(&config, &records);
    assert_int_equal(records.count, 1);
    assert_int_equal(records.list[0].group, GROUP_UNIT);
    for (uint64_t step = 1, checks = 0, samples = 0; step <= 12; step++) {
        small_run_steps(t, step);
        samples += step % 2 == 0;
        checks += step == 4 || step == 7 || step == 10;
        assert_int_equal(records.count, 1 + checks + samples);
    }
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(small_run_find(&records, 0, GROUP_CHECK, i)->count, variables_record_size(GROUP_CHECK, &t->extent));
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(small_run_find(&records, 0, GROUP_TRACE, i)->count, 8);
    trajectory_free(t);
    small_run_forget(&records);
}

static void values_agree_with_each_other(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    struct small_run_records records = {0};
    struct trajectory *t = small_run_create(&config, &records);
    small_run_steps(t, 12);
    for (uint32_t i = 0; i < 3; i++) {
        const struct small_run_record *r = small_run_find(&records, 0, GROUP_CHECK, i);
        size_t ks = t->extent.ks;
        assert_true(value(t, r, VARIABLE_lr_applied, 0) == 0.02);
        assert_true(value(t, r, VARIABLE_loss, 0) > 0);
        for (size_t c = 0; c < 8; c++) {
            double lag = value(t, r, VARIABLE_mean_lag, c), mu = value(t, r, VARIABLE_mu_over_sigma, c),
                   ratio = value(t, r, VARIABLE_var_ratio, c);
            double sigma = sqrt(value(t, r, VARIABLE_running_var, c) / ratio);
            assert_near((lag + mu) * sigma, value(t, r, VARIABLE_running_mean, c), 1e-6);
            assert_true(value(t, r, VARIABLE_angle, c) > 0 && value(t, r, VARIABLE_drift, c) > 0 &&
                        value(t, r, VARIABLE_norm, c) > 0);
            assert_true(fabs(value(t, r, VARIABLE_cos_grad, c)) < 1e-3);
        }
        /* all channels swapped, whatever the order: fresh statistics, which are training mode's */
        for (size_t order = 0; order < PLAN_ORDER_COUNT; order++)
            assert_true(value(t, r, VARIABLE_acc_swap_top, order * ks + ks - 1) == value(t, r, VARIABLE_acc_train, 0));
        for (size_t j = 0; j < r->count; j++)
            assert_false(isnan(r->values[j])); /* every measurement was asked for */
    }
    trajectory_free(t);
    small_run_forget(&records);
}

static void norms_without_statistics_say_nothing_of_them(void **state)
{
    (void)state;
    static const enum variable_id absent[] = {VARIABLE_running_mean, VARIABLE_mean_lag,       VARIABLE_var_ratio,
                                              VARIABLE_acc_reest,    VARIABLE_acc_swap_layer, VARIABLE_acc_swap_top,
                                              VARIABLE_acc_ema_reest};
    for (int norm = NORM_GROUP; norm < NORM_KIND_COUNT; norm++) {
        struct trajectory_config config = small_run_config();
        struct small_run_records records = {0};
        if (norm == NORM_BATCHRENORM)
            continue;
        config.net.norm = (enum norm_kind)norm;
        struct trajectory *t = small_run_create(&config, &records);
        small_run_steps(t, 4);
        const struct small_run_record *r = small_run_find(&records, 0, GROUP_CHECK, 0);
        for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
            for (size_t j = 0; j < variables_size(absent[i], &t->extent); j++)
                assert_true(isnan(value(t, r, absent[i], j)));
        assert_true(value(t, r, VARIABLE_acc_eval, 0) == value(t, r, VARIABLE_acc_train, 0));
        assert_true(value(t, r, VARIABLE_mu_over_sigma, 0) != 0 && value(t, r, VARIABLE_acc_ema, 0) >= 0);
        assert_true(hash_equal(trajectory_statistics_hash(t, 0), (struct hash){0}));
        trajectory_free(t);
        small_run_forget(&records);
    }
}

/* The same run twice: the same bits; another seed: others from the first weight on. */
static void a_run_is_a_function_of_its_configuration(void **state)
{
    (void)state;
    struct hash weights[3], initial[3];
    for (int run = 0; run < 3; run++) {
        struct trajectory_config config = small_run_config();
        struct small_run_records records = {0};
        config.seed = config.task.seed = run == 2 ? 6 : 5;
        struct trajectory *t = small_run_create(&config, &records);
        initial[run] = t->weights_init;
        assert_true(hash_equal(t->weights_init, trajectory_weights_hash(t)));
        small_run_steps(t, 12);
        weights[run] = trajectory_weights_hash(t);
        trajectory_free(t);
        small_run_forget(&records);
    }
    assert_true(hash_equal(initial[0], initial[1]) && hash_equal(weights[0], weights[1]));
    assert_false(hash_equal(initial[0], initial[2]));
    assert_false(hash_equal(weights[0], initial[0]));
}

/* A rate of 1e30: the run ends with a status, and the step that found out is not taken. */
static void divergence_ends_the_run(void **state)
{
    (void)state;
    for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
        struct trajectory_config config = small_run_config();
        struct small_run_records records = {0};
        enum status status = STATUS_OK;
        config.net.norm = (enum norm_kind)norm;
        config.optim.kind = OPTIM_SGD;
        config.schedule.lr = 1e30 * (sizeof(real) == 8 ? 1e200 : 1);
        struct trajectory *t = small_run_create(&config, &records);
        struct hash weights, statistics;
        uint64_t step;
        do {
            weights = trajectory_weights_hash(t);
            statistics = trajectory_statistics_hash(t, 0);
            step = t->step;
            status = trajectory_step(t);
        } while (!status && t->step < 12);
        assert_int_equal(status, STATUS_DIVERGED);
        assert_non_null(strstr(status_message(), "the loss is "));
        assert_int_equal(t->step, step);
        assert_true(step >= 1);
        assert_true(hash_equal(weights, trajectory_weights_hash(t)));
        assert_true(hash_equal(statistics, trajectory_statistics_hash(t, 0)));
        assert_int_equal(trajectory_step(t), STATUS_DIVERGED); /* and stays so */
        trajectory_free(t);
        small_run_forget(&records);
    }
}

/* A loss of infinity ends a run as a NaN does: a logit of minus infinity for the first class, finite ones for the rest. */
static void an_infinite_loss_is_a_divergence(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    struct small_run_records records = {0};
    struct trajectory *t = small_run_create(&config, &records);
    t->weights[t->net.params[t->net.linear_bias].offset] = (real)-INFINITY;
    assert_fails(STATUS_DIVERGED, "the loss is inf at step 1", trajectory_step(t));
    assert_int_equal(t->step, 0);
    trajectory_free(t);
    small_run_forget(&records);
}

static void refuse(enum status code, const char *text, const struct trajectory_config *config)
{
    struct small_run_records records = {0};
    struct trajectory *t;
    struct trajectory_sink sink = {&records, small_run_keep};
    assert_fails(code, text, trajectory_create(&t, config, &sink));
    assert_int_equal(records.count, 0);
    trajectory_free(t);
}

#define REFUSE(code, text, change)                            \
    do {                                                      \
        struct trajectory_config config = small_run_config(); \
        change;                                               \
        refuse(code, text, &config);                          \
    } while (0)

static void configurations_that_are_refused(void **state)
{
    (void)state;
    REFUSE(STATUS_SHAPE, "the network takes", config.task.classes++);
    REFUSE(STATUS_SHAPE, "the network takes", config.task.image_h++);
    static const float values[5] = {1, 2, 3, 4, NAN};
    static const struct init_tensor tensor = {"norm2.weight", 1, {5}, values};
    REFUSE(STATUS_INPUT, "0 momenta in one trajectory; from 1 to 64", config.momenta_count = 0);
    REFUSE(STATUS_INPUT, "65 momenta", config.momenta_count = 65);
    REFUSE(STATUS_INPUT, "first_check", config.plan.first_check = 13);
    REFUSE(STATUS_SHAPE, "block 1", config.net.channels[0] = 0);
    REFUSE(STATUS_SHAPE, "no size may be 0", config.task.batch = 0);
    REFUSE(STATUS_SHAPE, "block 1: convolution", config.task.batch = SIZE_MAX / 64);
    REFUSE(STATUS_INPUT, "tensor 'norm2.weight' holds nan at position 4", (config.init = &tensor, config.init_count = 1));
}

static void one_value_a_channel_is_refused_at_the_step(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    struct small_run_records records = {0};
    config.net.image_h = config.net.image_w = config.task.image_h = config.task.image_w = 2;
    config.task.batch = 1;
    struct trajectory *t = small_run_create(&config, &records);
    assert_fails(STATUS_SHAPE, "norm2: Expected more than 1 value per channel", trajectory_step(t));
    assert_int_equal(t->step, 0);
    trajectory_free(t);
    small_run_forget(&records);
}

static enum status refuse_third(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values,
                                size_t count)
{
    (void)unit, (void)group, (void)index, (void)values, (void)count;
    return ++*(int *)context == 3 ? status_fail(STATUS_IO, "the third record") : STATUS_OK;
}

/* What the sink returns ends the run with it. */
static void a_sink_may_refuse(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    struct trajectory *t;
    int sent = 0;
    enum status status = STATUS_OK;
    assert_ok(trajectory_create(&t, &config, &(struct trajectory_sink){&sent, refuse_third}));
    while (!status && t->step < 12)
        status = trajectory_step(t);
    assert_int_equal(status, STATUS_IO);
    assert_string_equal(status_message(), "the third record");
    trajectory_free(t);
    sent = 2;
    assert_fails(STATUS_IO, "the third record", trajectory_create(&t, &config, &(struct trajectory_sink){&sent, refuse_third}));
    trajectory_free(t);
    trajectory_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_as_planned),
        cmocka_unit_test(values_agree_with_each_other),
        cmocka_unit_test(norms_without_statistics_say_nothing_of_them),
        cmocka_unit_test(a_run_is_a_function_of_its_configuration),
        cmocka_unit_test(divergence_ends_the_run),
        cmocka_unit_test(an_infinite_loss_is_a_divergence),
        cmocka_unit_test(configurations_that_are_refused),
        cmocka_unit_test(one_value_a_channel_is_refused_at_the_step),
        cmocka_unit_test(a_sink_may_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

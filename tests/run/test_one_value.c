/* A validation set of one image that a network pools down to one pixel: training mode over it has one value a channel, which is an
 * error for a batch norm, and must never become a NaN in the running statistics. */
#include "small_run.h"

static void a_validation_set_of_one_value_is_refused(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    struct small_run_records records = {0};
    struct trajectory_sink sink = {&records, small_run_keep};
    struct trajectory *t;
    config.net.image_h = config.net.image_w = config.task.image_h = config.task.image_w = 2;
    config.task.val_size = config.plan.val_size = config.plan.probe_size = 1;
    config.plan.probe_writes_stats = true;
    enum status status = trajectory_create(&t, &config, &sink);
    while (!status && t->step < config.plan.first_check)
        status = trajectory_step(t);
    if (!status)
        assert_false(isnan(t->running[0].var[4]));
    assert_int_equal(status, STATUS_SHAPE);
    assert_non_null(strstr(status_message(), "more than 1 value per channel"));
    trajectory_free(t);
    small_run_forget(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_validation_set_of_one_value_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

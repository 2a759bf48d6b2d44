/* A small run that trains, measures, saves and loads, with the n-th allocation failing, for every n: out of memory is reported
 * each time, nothing leaks and nothing crashes. The linker puts this file's functions before the library's (see CMakeLists). */
#include "small_run.h"

#include <errno.h>
#include <unistd.h>

#include "bnsweep/measure/record.h"
#include "bnsweep/run/state.h"

int __real_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *pointer);
void __wrap_free(void *pointer);

static long made, live, fail_at = -1; /* fail_at: the allocation that fails, from 0; every later one as well where `for_good` */
static bool for_good;

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    long number = made++;
    if (fail_at >= 0 && (number == fail_at || (for_good && number > fail_at)))
        return ENOMEM;
    int failed = __real_posix_memalign(out, alignment, size);
    live += !failed;
    return failed;
}

void __wrap_free(void *pointer)
{
    live -= pointer != NULL;
    __real_free(pointer);
}

static char folder[] = "/tmp/bnsweep-allocation-XXXXXX", path[64];

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
    return rmdir(folder);
}

/* Send each record as a worker does: packed, and unpacked again. */
static enum status send(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    float kept[300];
    struct record record = {.kind = RECORD_VALUES, .group = group, .index = index, .count = (uint32_t)count, .values = kept},
                  back = {0};
    struct pack pack = {0};
    (void)context, (void)unit;
    assert_true(count <= sizeof kept / sizeof *kept);
    for (size_t i = 0; i < count; i++)
        kept[i] = (float)values[i];
    enum status status = record_pack(&record, &pack);
    if (!status)
        status = record_unpack(pack.data, pack.size, &back);
    record_free(&back);
    pack_free(&pack);
    return status;
}

static enum status part(const struct trajectory_config *config, bool resumes, uint64_t until)
{
    const struct trajectory_sink sink = {NULL, send};
    struct trajectory *t;
    enum status status = trajectory_create(&t, config, &sink);
    if (!status && resumes)
        status = state_load(t, path, (struct hash){1, 2});
    while (!status && t->step < until)
        status = trajectory_step(t);
    if (!status)
        status = state_save(t, path, (struct hash){1, 2});
    trajectory_free(t);
    return status;
}

static enum status run(const struct trajectory_config *config)
{
    made = 0;
    enum status status = part(config, false, 4);
    return status ? status : part(config, true, 7);
}

/* `twice`: also with every later allocation failing too. */
static void assert_every_failure_is_reported(struct trajectory_config config, bool twice)
{
    fail_at = -1;
    assert_ok(run(&config));
    long total = made;
    assert_int_equal(live, 0);
    assert_true(total > 100);
    for (int good = 0; good <= twice; good++)
        for (fail_at = 0; fail_at < total; fail_at++) {
            for_good = good;
            status_fail(STATUS_OK, "nothing");
            enum status status = run(&config);
            if (status != STATUS_NOMEM || !strstr(status_message(), "memory") || live != 0)
                fail_msg("allocation %ld of %ld: %s \"%s\", %ld live", fail_at, total, status_name(status), status_message(), live);
        }
    fail_at = -1;
    print_message("%ld allocations\n", total);
}

static void every_allocation_of_a_run(void **state)
{
    (void)state;
    struct trajectory_config config = small_run_config();
    config.momenta_count = 2;
    assert_every_failure_is_reported(config, true);
    config.net.norm = NORM_GROUP;
    config.momenta_count = 1;
    assert_every_failure_is_reported(config, false);
}

static void every_allocation_with_a_file(void **state)
{
    (void)state;
    enum { TRAIN = 12, IMAGE = 2 * 6 * 6 };
    static float x[TRAIN * IMAGE];
    static int32_t y[TRAIN];
    const struct task_images images = {2, 6, 6, TRAIN, TRAIN, x, x, y, y};
    struct trajectory_config config = small_run_config();
    uint64_t seed = 3;
    for (size_t i = 0; i < TRAIN * IMAGE; i++)
        x[i] = (float)numbers_next(&seed);
    config.task.data = DATA_FILE;
    config.task.order = ORDER_SHUFFLED;
    config.task.images = &images;
    config.task.val_size = config.plan.val_size = TRAIN;
    config.optim.kind = OPTIM_SGD;
    assert_every_failure_is_reported(config, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_run),
        cmocka_unit_test(every_allocation_with_a_file),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}

/* State files: damage of every byte and at every length is refused and changes nothing; a failed save leaves the old file whole. */
#include "small_run.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnsweep/run/state.h"

static char folder[] = "/tmp/bnsweep-state-XXXXXX", path[64];
static const struct hash key = {1, 2};
static struct small_run_records records;
static struct trajectory *trajectory; /* two steps in; its state is the file's */
static uint8_t *bytes;                /* of the file */
static size_t size;

static struct trajectory_config tiny(void)
{
    struct trajectory_config config = small_run_config();
    config.net.blocks = 1;
    config.net.channels[0] = 1;
    config.net.image_channels = config.task.image_channels = 1;
    config.net.image_h = config.net.image_w = config.task.image_h = config.task.image_w = 2;
    config.net.classes = config.task.classes = 2;
    config.plan.ema = WHEN_NEVER;
    config.plan.angle_window = 1;
    return config;
}

static void write_bytes(size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static int open_folder(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    struct stat info;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    trajectory = small_run_create(&config, &records);
    small_run_steps(trajectory, 2);
    trajectory->seconds = 3;
    assert_ok(state_save(trajectory, path, key));
    assert_int_equal(stat(path, &info), 0);
    size = (size_t)info.st_size;
    bytes = malloc(size + 1);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    trajectory_free(trajectory);
    small_run_forget(&records);
    free(bytes);
    unlink(path);
    return rmdir(folder); /* fails where a temporary file was left */
}

static size_t files_in_folder(void)
{
    DIR *open = opendir(folder);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

/* A hash of all that a state holds, taken through the trajectory itself. */
static struct hash everything(const struct trajectory *t)
{
    size_t params = t->net.size * sizeof(real), channels = t->net.channels;
    struct hash all = hash_combine(trajectory_weights_hash(t), trajectory_statistics_hash(t, 0));
    all = hash_combine(all, hash_bytes(t->optim.first, params));
    all = hash_combine(all, hash_bytes(t->optim.second, params));
    all = hash_combine(all, hash_bytes(t->window.loss, t->window.length * sizeof(double)));
    all = hash_combine(all, hash_bytes(t->window.cos_grad, t->window.length * channels * sizeof(double)));
    all = hash_combine(all, hash_bytes(t->window.snapshots, t->window.slots * t->window.conv_size * sizeof(real)));
    const double numbers[] = {(double)t->step, (double)t->optim.step, t->optim.rate, t->seconds};
    return hash_combine(all, hash_bytes(numbers, sizeof numbers));
}

/* Load the file into a new trajectory of this configuration: `code` comes back and, unless it is OK, nothing has changed. */
static void assert_load(enum status code, const char *text, const struct trajectory_config *config, struct hash as)
{
    struct small_run_records own = {0};
    struct trajectory *t = small_run_create(config, &own);
    struct hash before = everything(t);
    status_fail(STATUS_OK, "nothing");
    enum status status = state_load(t, path, as);
    if (status != code || !strstr(status_message(), text))
        fail_msg("%s \"%s\", expected %s \"%s\"", status_name(status), status_message(), status_name(code), text);
    assert_int_equal(hash_equal(everything(t), before), code != STATUS_OK);
    if (code == STATUS_OK)
        assert_true(hash_equal(everything(t), everything(trajectory)));
    trajectory_free(t);
    small_run_forget(&own);
}

static void a_whole_file_is_taken(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    write_bytes(size);
    assert_load(STATUS_OK, "nothing", &config, key);
}

static void every_byte_matters(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    print_message("%zu bytes\n", size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (uint8_t)(1 << i % 8);
        write_bytes(size);
        assert_load(STATUS_CORRUPT, path, &config, key);
        bytes[i] ^= (uint8_t)(1 << i % 8);
    }
    write_bytes(size);
    assert_load(STATUS_OK, "nothing", &config, key);
}

static void every_truncation_and_extension_is_refused(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    for (size_t length = 0; length < size; length++) {
        write_bytes(length);
        assert_load(STATUS_CORRUPT, path, &config, key);
    }
    bytes[size] = 0;
    write_bytes(size + 1);
    assert_load(STATUS_CORRUPT, path, &config, key);
}

/* A right checksum over the wrong number of bytes: made so, not damaged so. */
static void a_right_checksum_is_not_enough(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    for (size_t less = 1; less < 40; less += 13) {
        uint64_t kept, sum = hash_checksum(bytes, size - 8 - less, 0);
        memcpy(&kept, bytes + size - 8 - less, 8);
        uint8_t tail[48];
        memcpy(tail, bytes + size - 8 - less, 8 + less);
        memcpy(bytes + size - 8 - less, &sum, 8);
        write_bytes(size - less);
        assert_load(STATUS_CORRUPT, path, &config, key);
        memcpy(bytes + size - 8 - less, tail, 8 + less);
    }
}

static void another_trajectorys_state_is_refused(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    write_bytes(size);
    assert_load(STATUS_VERSION, "belongs to another trajectory", &config, (struct hash){1, 3});
    assert_load(STATUS_VERSION, "belongs to another trajectory", &config, (struct hash){0, 2});
    config.momenta_count = 2; /* other sizes, should a key ever collide */
    assert_load(STATUS_VERSION, "belongs to another trajectory", &config, key);
}

/* The version is in the checksum: one that is of another version is made with a right one. */
static void another_versions_state_is_refused(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    for (size_t at = 8; at <= 12; at += 4) {
        uint64_t sum, kept;
        memcpy(&kept, bytes + size - 8, 8);
        bytes[at] ^= 0x40;
        sum = hash_checksum(bytes, size - 8, 0);
        memcpy(bytes + size - 8, &sum, 8);
        write_bytes(size);
        assert_load(STATUS_VERSION, "this program", &config, key);
        bytes[at] ^= 0x40;
        memcpy(bytes + size - 8, &kept, 8);
    }
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    unlink(path);
    assert_load(STATUS_IO, "No such file", &config, key);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_load(STATUS_CORRUPT, "is not a state", &config, key);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes into it */
    assert_load(STATUS_CORRUPT, "is not a state", &config, key);
    unlink(path);
    write_bytes(0);
    assert_load(STATUS_CORRUPT, "is not a state", &config, key);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0); /* more than could be read */
    assert_load(STATUS_CORRUPT, "is not a state", &config, key);
}

/* Saving where it cannot be done: a status, no temporary file, and what was there still whole. */
static void a_failed_save_leaves_the_old_file(void **state)
{
    (void)state;
    struct trajectory_config config = tiny();
    struct rlimit limit, small;
    char elsewhere[128], endless[5000];
    write_bytes(size);
    snprintf(elsewhere, sizeof elsewhere, "%s/none/state", folder);
    assert_fails(STATUS_IO, "No such file", state_save(trajectory, elsewhere, key));
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_fails(STATUS_IO, "the path of a state is too long: 'xxx", state_save(trajectory, endless, key));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = (struct rlimit){100, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status status = state_save(trajectory, path, key);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, STATUS_IO);
    assert_non_null(strstr(status_message(), "File too large"));
    assert_int_equal(files_in_folder(), 1);
    assert_load(STATUS_OK, "nothing", &config, key);
    snprintf(elsewhere, sizeof elsewhere, "%s/folder", folder);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_fails(STATUS_IO, "rename", state_save(trajectory, elsewhere, key));
    assert_int_equal(files_in_folder(), 2);
    assert_int_equal(rmdir(elsewhere), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_taken),
        cmocka_unit_test(every_byte_matters),
        cmocka_unit_test(every_truncation_and_extension_is_refused),
        cmocka_unit_test(a_right_checksum_is_not_enough),
        cmocka_unit_test(another_trajectorys_state_is_refused),
        cmocka_unit_test(another_versions_state_is_refused),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(a_failed_save_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}

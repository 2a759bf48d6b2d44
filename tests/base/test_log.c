/* Log lines: whole, with their level, up to the threshold; read back from standard error. */
#include "testing.h"

#include <unistd.h>

#include "bnsweep/base/log.h"

static int saved, ends[2];

static void capture(void)
{
    saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
}

/* Text written since capture(), in out[size]. */
static void release(char *out, size_t size)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t got = read(ends[0], out, size - 1);
    out[got > 0 ? got : 0] = 0;
    close(ends[0]);
}

static void only_levels_up_to_the_threshold_are_written(void **state)
{
    (void)state;
    char out[1000];
    capture();
    log_write(LOG_DEBUG, "hidden");
    log_write(LOG_INFO, "%d units", 3);
    log_write(LOG_WARNING, "slow");
    log_write(LOG_ERROR, "broken");
    log_set_level(LOG_ERROR);
    log_write(LOG_WARNING, "hidden");
    log_write(LOG_ERROR, "still");
    log_set_level(LOG_DEBUG);
    log_write(LOG_DEBUG, "seen");
    log_set_level(LOG_INFO);
    release(out, sizeof out);
    assert_string_equal(out, "bnsweep: 3 units\nbnsweep: warning: slow\nbnsweep: error: broken\nbnsweep: error: still\n"
                             "bnsweep: debug: seen\n");
}

static void long_lines_are_cut_and_still_end(void **state)
{
    (void)state;
    char text[6000], out[8000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    capture();
    log_write(LOG_ERROR, "%s", text);
    log_write(LOG_ERROR, "next");
    release(out, sizeof out);
    char *end = strchr(out, '\n');
    assert_non_null(end);
    assert_true(end - out > 4000 && end - out < 5000);
    assert_null(memchr(out, 0, (size_t)(end - out)));
    assert_string_equal(end + 1, "bnsweep: error: next\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_levels_up_to_the_threshold_are_written),
        cmocka_unit_test(long_lines_are_cut_and_still_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

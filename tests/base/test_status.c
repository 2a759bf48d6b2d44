/* Status codes, their names and texts, and this thread's message. */
#include "testing.h"

#include <pthread.h>

static void every_code_has_name_text_and_exit_code(void **state)
{
    (void)state;
#define X(name, number, exit_code, text)                        \
    assert_int_equal(STATUS_##name, number);                    \
    assert_string_equal(status_name(STATUS_##name), #name);     \
    assert_string_equal(status_text(STATUS_##name), text);      \
    assert_int_equal(status_exit_code(STATUS_##name), exit_code);
    STATUS_LIST(X)
#undef X
}

/* The numbers are sent and stored: these must never change. */
static void numbers_are_pinned(void **state)
{
    (void)state;
    assert_int_equal(STATUS_OK, 0);
    assert_int_equal(STATUS_NOMEM, 1);
    assert_int_equal(STATUS_INPUT, 2);
    assert_int_equal(STATUS_SHAPE, 3);
    assert_int_equal(STATUS_IO, 4);
    assert_int_equal(STATUS_CORRUPT, 5);
    assert_int_equal(STATUS_LOCKED, 6);
    assert_int_equal(STATUS_MISMATCH, 7);
    assert_int_equal(STATUS_INCOMPLETE, 8);
    assert_int_equal(STATUS_DIVERGED, 9);
    assert_int_equal(STATUS_FAILED, 10);
    assert_int_equal(STATUS_VERSION, 11);
    assert_int_equal(STATUS_INTERNAL, 12);
    assert_int_equal(status_exit_code(STATUS_OK), 0);
    assert_int_equal(status_exit_code(STATUS_INCOMPLETE), 75);
}

static void unknown_numbers_are_named(void **state)
{
    (void)state;
    assert_string_equal(status_name((enum status)99), "UNKNOWN");
    assert_non_null(status_text((enum status)99));
    assert_int_equal(status_exit_code((enum status)99), 1);
}

static void context_goes_in_front(void **state)
{
    (void)state;
    assert_int_equal(status_fail(STATUS_IO, "could not read %d bytes", 7), STATUS_IO);
    assert_string_equal(status_message(), "could not read 7 bytes");
    assert_int_equal(status_context(STATUS_IO, "file '%s'", "a"), STATUS_IO);
    assert_string_equal(status_message(), "file 'a': could not read 7 bytes");
    assert_int_equal(status_context(STATUS_OK, "nothing"), STATUS_OK);
    assert_string_equal(status_message(), "file 'a': could not read 7 bytes");
}

static void a_message_may_be_its_own_argument(void **state)
{
    (void)state;
    status_fail(STATUS_IO, "inner");
    status_fail(STATUS_IO, "outer(%s)", status_message());
    assert_string_equal(status_message(), "outer(inner)");
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    status_fail(STATUS_IO, "%s", text);
    size_t kept = strlen(status_message());
    assert_true(kept > 1000 && kept < sizeof text - 1);
    status_context(STATUS_IO, "front");
    assert_int_equal(strncmp(status_message(), "front: xxx", 10), 0);
    status_context(STATUS_IO, "%s", text);
    assert_int_equal(strlen(status_message()), kept);
}

static void *fail_elsewhere(void *message)
{
    status_fail(STATUS_IO, "another thread");
    strcpy(message, status_message());
    return NULL;
}

static void each_thread_has_its_message(void **state)
{
    (void)state;
    pthread_t thread;
    char theirs[64];
    status_fail(STATUS_IO, "this thread");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, theirs), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(theirs, "another thread");
    assert_string_equal(status_message(), "this thread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_name_text_and_exit_code),
        cmocka_unit_test(numbers_are_pinned),
        cmocka_unit_test(unknown_numbers_are_named),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(a_message_may_be_its_own_argument),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(each_thread_has_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What every test program includes: cmocka, and assertions on the library's status. */
#ifndef BNSWEEP_TESTS_TESTING_H
#define BNSWEEP_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bnsweep/base/status.h"

/* The call succeeds; otherwise its message is shown. */
#define assert_ok(call)                                                                     \
    do {                                                                                    \
        enum status assert_status = (call);                                                 \
        if (assert_status != STATUS_OK)                                                     \
            print_error("%s: %s: %s\n", #call, status_name(assert_status), status_message()); \
        assert_int_equal(assert_status, STATUS_OK);                                         \
    } while (0)

/* The call fails with this code, and its message contains the text. */
#define assert_fails(code, text, call)                                                  \
    do {                                                                                \
        enum status assert_status = (call);                                             \
        if (assert_status != (code) || !strstr(status_message(), text))                 \
            print_error("%s: %s: \"%s\", expected \"%s\"\n", #call, status_name(assert_status), status_message(), text); \
        assert_int_equal(assert_status, code);                                          \
        assert_non_null(strstr(status_message(), text));                                \
    } while (0)

#endif

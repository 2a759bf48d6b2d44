#include "bnsweep/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048 };

static _Thread_local char message[MESSAGE_SIZE];

enum status status_fail(enum status code, const char *format, ...)
{
    char text[MESSAGE_SIZE]; /* the arguments may include status_message() itself */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(message, text, sizeof text);
    return code;
}

enum status status_context(enum status code, const char *format, ...)
{
    if (code == STATUS_OK)
        return code;
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < MESSAGE_SIZE)
        snprintf(text + length, sizeof text - (size_t)length, ": %s", message);
    memcpy(message, text, sizeof text);
    return code;
}

const char *status_message(void)
{
    return message;
}

const char *status_name(enum status code)
{
    switch (code) {
#define X(name, number, exit_code, text) case STATUS_##name: return #name;
        STATUS_LIST(X)
#undef X
    }
    return "UNKNOWN";
}

const char *status_text(enum status code)
{
    switch (code) {
#define X(name, number, exit_code, text) case STATUS_##name: return text;
        STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

int status_exit_code(enum status code)
{
    switch (code) {
#define X(name, number, exit_code, text) case STATUS_##name: return exit_code;
        STATUS_LIST(X)
#undef X
    }
    return 1;
}

#include "bnsweep/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level threshold = LOG_INFO;

void log_set_level(enum log_level level)
{
    threshold = level;
}

void log_write(enum log_level level, const char *format, ...)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", "debug: "};
    if (level > threshold)
        return;
    char line[4096];
    int at = snprintf(line, sizeof line, "bnsweep: %s", prefix[level]);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + at, sizeof line - (size_t)at - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t end = (size_t)at + (size_t)length;
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    line[end++] = '\n';
    if (write(STDERR_FILENO, line, end) < 0)
        return; /* nowhere left to say it */
}

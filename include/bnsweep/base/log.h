/* One line a message on standard error: "bnsweep: LEVEL: text". */
#ifndef BNSWEEP_BASE_LOG_H
#define BNSWEEP_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Write only messages up to `level` from now on (LOG_INFO at the start). */
void log_set_level(enum log_level level);

/* Write one line (printf format, no newline needed); a whole line in one write, so that lines of several ranks do not mix. */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* Status codes with a message: how every library function reports failure. */
#ifndef BNSWEEP_BASE_STATUS_H
#define BNSWEEP_BASE_STATUS_H

/* X(NAME, number, exit code of the program, text). The numbers are sent and stored: append, never renumber. */
#define STATUS_LIST(X)                                                          \
    X(OK, 0, 0, "success")                                                      \
    X(NOMEM, 1, 1, "out of memory")                                             \
    X(INPUT, 2, 2, "bad input")                                                 \
    X(SHAPE, 3, 2, "shapes do not fit")                                         \
    X(IO, 4, 1, "input or output failed")                                       \
    X(CORRUPT, 5, 1, "damaged file or message")                                 \
    X(LOCKED, 6, 1, "in use by another run")                                    \
    X(MISMATCH, 7, 3, "verification found a difference")                        \
    X(INCOMPLETE, 8, 75, "stopped before the end; run again to go on")          \
    X(DIVERGED, 9, 0, "training diverged")                                      \
    X(FAILED, 10, 1, "some units failed")                                       \
    X(VERSION, 11, 2, "made by an incompatible version or another sweep")       \
    X(INTERNAL, 12, 1, "internal error")

enum status {
#define X(name, number, exit_code, text) STATUS_##name = number,
    STATUS_LIST(X)
#undef X
};

/* Record a message (printf format) for this thread and return `code`: `return status_fail(STATUS_IO, ...)`. */
enum status status_fail(enum status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put "context: " before this thread's message and return `code`; does nothing where `code` is STATUS_OK. */
enum status status_context(enum status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return this thread's last message; never NULL, owned by the library, valid until the next failure in the thread. */
const char *status_message(void);

/* Return the code's name ("NOMEM") or its text ("out of memory"); "UNKNOWN" and "unknown status" for a number not in the list. */
const char *status_name(enum status code);
const char *status_text(enum status code);

/* Return the exit status with which the program ends on this code. */
int status_exit_code(enum status code);

#endif

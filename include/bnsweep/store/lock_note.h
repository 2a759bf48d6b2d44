/* Who writes a store, asked without touching its lock: a try to take it could make a run fail that starts just then. */
#ifndef BNSWEEP_STORE_LOCK_NOTE_H
#define BNSWEEP_STORE_LOCK_NOTE_H

#include "bnsweep/base/status.h"

enum { LOCK_NOTE_SIZE = 512 };

enum lock_state {
    LOCK_FREE,    /* nobody writes */
    LOCK_HELD,    /* a process of this machine writes */
    LOCK_UNKNOWN  /* the last writer was on another machine, or this system does not list its locks */
};

struct lock_note {
    enum lock_state state;
    char text[LOCK_NOTE_SIZE]; /* what the last holder wrote: host, process, job, since; "" where nobody ever did */
};

/* Read the note in the lock of the store at `path`. STATUS_IO. */
enum status lock_note_read(const char *path, struct lock_note *out);

#endif

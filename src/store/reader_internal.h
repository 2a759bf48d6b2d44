/* What the files of the reading side share. */
#ifndef BNSWEEP_STORE_READER_INTERNAL_H
#define BNSWEEP_STORE_READER_INTERNAL_H

#include "bnsweep/store/reader.h"
#include "overlay_internal.h"
#include "schema_internal.h"

struct reader {
    char path[PATH_MAX];
    hid_t file;
    struct schema schema;
    struct overlay overlay;
    struct reader_journal journal;
    struct reader_column *columns; /* owned */
    size_t column_count, column_capacity;
};

#endif

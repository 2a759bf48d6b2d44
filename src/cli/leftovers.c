#include "leftovers.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/store/reader_unit.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_ROWS = 4096, KEY_SIZE = HASH_HEX_SIZE - 1 };

/* A state is called by its key; one that was prepared has ".new" behind. */
static bool is_state(const char *name)
{
    char key[HASH_HEX_SIZE];
    struct hash hash;
    if (strlen(name) < KEY_SIZE)
        return false;
    memcpy(key, name, KEY_SIZE);
    key[KEY_SIZE] = '\0';
    return hash_from_hex(key, &hash) && (!name[KEY_SIZE] || strcmp(name + KEY_SIZE, ".new") == 0);
}

static size_t count_states(const char *folder, bool remove)
{
    size_t count = 0;
    DIR *listing = opendir(folder);
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        if (!is_state(entry->d_name))
            continue;
        count++;
        if (remove)
            unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing)
        closedir(listing);
    return count;
}

static bool all_ended(const struct reader *reader)
{
    struct reader_unit *units = mem_array(BLOCK_ROWS, sizeof *units);
    bool ended = units != NULL;
    uint64_t rows = reader_rows(reader);
    for (uint64_t first = 0; ended && first < rows; first += BLOCK_ROWS) {
        size_t count = rows - first < BLOCK_ROWS ? (size_t)(rows - first) : BLOCK_ROWS;
        ended = !reader_unit_list(reader, first, count, units);
        for (size_t i = 0; ended && i < count; i++)
            ended = units[i].status == UNIT_DONE || units[i].status == UNIT_DIVERGED;
        reader_unit_free(units, count);
    }
    mem_free(units);
    return ended;
}

void leftovers_remove(const char *store, const char *folder)
{
    struct reader *reader;
    if (!count_states(folder, false) || reader_open(store, &reader))
        return;
    if (all_ended(reader))
        count_states(folder, true);
    reader_close(reader);
}

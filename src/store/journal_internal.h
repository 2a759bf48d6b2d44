/* The journal's format, shared by its writing and its reading end. */
#ifndef BNSWEEP_STORE_JOURNAL_INTERNAL_H
#define BNSWEEP_STORE_JOURNAL_INTERNAL_H

#include "bnsweep/store/journal.h"

#define JOURNAL_MAGIC "bnsweepJ"
enum { JOURNAL_MAGIC_SIZE = 8, JOURNAL_HEADER_CHECKED = JOURNAL_HEADER_SIZE - 8, JOURNAL_ENTRY_CHECKED = JOURNAL_ENTRY_HEAD - 8 };

/* Return the checksum of an entry: of its head without the checksum, then of the payload. */
static inline uint64_t journal_checksum(const uint8_t *head, const uint8_t *payload, size_t size)
{
    return hash_checksum(payload, size, hash_checksum(head, JOURNAL_ENTRY_CHECKED, 0));
}

#endif

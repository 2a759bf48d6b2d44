/* Reads a journal in order, while it is written or after a crash. */
#ifndef BNSWEEP_STORE_JOURNAL_READER_H
#define BNSWEEP_STORE_JOURNAL_READER_H

#include "bnsweep/store/journal.h"

struct journal_reader;

/* Open the journal as it is now; later growth is not seen. `*out` is NULL, with STATUS_OK, where there is no file.
 * STATUS_VERSION (newer version), STATUS_CORRUPT (no journal, or a damaged header), STATUS_IO, STATUS_NOMEM. */
enum status journal_reader_open(const char *path, struct journal_reader **out);

struct hash journal_reader_store(const struct journal_reader *reader);
/* Return the sequence number that the first entry has, or would have. */
uint64_t journal_reader_first(const struct journal_reader *reader);

/* Read the next entry; `*more` is false after the last. A torn tail ends the journal (journal_reader_torn tells).
 * STATUS_CORRUPT with the offset: damage that is followed by entries which were acknowledged later. STATUS_IO, STATUS_NOMEM. */
enum status journal_reader_next(struct journal_reader *reader, struct journal_entry *entry, bool *more);

/* Read again the entry that was at `offset`; does not move the place of journal_reader_next. */
enum status journal_reader_at(struct journal_reader *reader, uint64_t offset, struct journal_entry *entry);

/* Open a journal whose header may be damaged; the rest as journal_reader_open. `*damaged` says whether it is: then store and first
 * entry are not known. For journal_reader_salvage. */
enum status journal_reader_open_damaged(const char *path, struct journal_reader **out, bool *damaged);

/* Read the next whole entry, passing over whatever else there is; `*passed` is how many bytes. STATUS_IO, STATUS_NOMEM. */
enum status journal_reader_salvage(struct journal_reader *reader, struct journal_entry *entry, bool *more, uint64_t *passed);

/* After the last entry: return how many bytes at the end are no complete commit, and where they start. */
uint64_t journal_reader_torn(const struct journal_reader *reader, uint64_t *offset);

/* NULL is allowed. */
void journal_reader_close(struct journal_reader *reader);

#endif

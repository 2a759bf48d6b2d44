/* What makes two units the same: a hash of everything that can change a number. */
#ifndef BNSWEEP_SWEEP_IDENTITY_H
#define BNSWEEP_SWEEP_IDENTITY_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/sweep/settings.h"
#include "bnsweep/sweep/settings_text.h"

/* Raise it whenever the same settings would give other bits than before: old stores then train anew. */
enum { IDENTITY_NUMERICS_VERSION = 2 };

/* Write the text that is hashed: the numerics version, then "key = value" lines of the settings that are read in this
 * combination, can change a number and differ from their default. Paths are not there, the hashes of the files are. */
void identity_text(const struct settings *settings, char out[SETTINGS_TEXT_SIZE]);

/* Return the unit's identity: the hash of identity_text. */
struct hash identity_of(const struct settings *settings);

/* Return whether training never reads the running statistics, so that units that differ only in bn_momentum have the same
 * weights and may share a trajectory. */
bool identity_fusable(const struct settings *settings);

/* Return a hash that is equal for units that may share a trajectory, and different for all others. */
struct hash identity_trajectory(const struct settings *settings);

/* Hash a file's bytes to 32 hexadecimal digits, as in file_hash and init_hash.
 * STATUS_INPUT where it is no readable regular file, STATUS_IO where reading fails half-way, STATUS_NOMEM. */
enum status identity_file(const char *path, char out[HASH_HEX_SIZE]);

/* Check that the files the settings name still have the bytes that were hashed. STATUS_INPUT where one has changed; else as
 * identity_file. */
enum status identity_verify_files(const struct settings *settings);

#endif

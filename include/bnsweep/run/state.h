/* The whole state of a trajectory in one file, so that a run that was stopped goes on with the same bits.
 * Data are not in it: they derive from the step. The bytes are the machine's own (little-endian, checked). */
#ifndef BNSWEEP_RUN_STATE_H
#define BNSWEEP_RUN_STATE_H

#include "bnsweep/base/hash.h"
#include "bnsweep/base/status.h"
#include "bnsweep/run/trajectory.h"

/* Write the state to a file beside `path` and fsync it; state_publish then gives it its name. Between the two the caller makes
 * sure that everything sent before is on disk: a state must never be ahead of the records.
 * `key` says which trajectory it is. STATUS_IO naming the file and the reason (nothing is left behind), STATUS_NOMEM. */
enum status state_prepare(const struct trajectory *trajectory, const char *path, struct hash key);

/* Rename the prepared file to `path` and fsync the folder: `path` is at every moment absent or whole. STATUS_IO. */
enum status state_publish(const char *path);

/* Both at once. */
enum status state_save(const struct trajectory *trajectory, const char *path, struct hash key);

/* Take the state from `path` into a trajectory just created from the same configuration. Nothing is taken unless all is well.
 * STATUS_IO where it cannot be read; STATUS_CORRUPT where it is damaged; STATUS_VERSION where it belongs to another trajectory
 * or was written by another version; STATUS_NOMEM. */
enum status state_load(struct trajectory *trajectory, const char *path, struct hash key);

/* Check the state at `path` and say of which step it is. Errors as state_load. */
enum status state_peek(const char *path, struct hash key, uint64_t *step);

/* Remove the state at `path`, and one that was prepared and never published; what is not there is no matter. */
void state_remove(const char *path);

#endif

/* What is recorded of each unit so far: by the store as published, and by what this run has taken in since. */
#ifndef BNSWEEP_CLI_RECORDED_H
#define BNSWEEP_CLI_RECORDED_H

#include "bnsweep/base/status.h"
#include "bnsweep/measure/variables.h"
#include "bnsweep/run/job.h"
#include "bnsweep/store/reader.h"

#include <stddef.h>
#include <stdint.h>

/* How many checks, trace samples and kept steps, from the first on, came in during this run: [rows] each, owned. Zero-initialise. */
struct recorded {
    size_t rows, step_size; /* step_size: values of a kept step, 0 where none are kept */
    uint32_t *checks, *samples, *steps;
};

/* Make room for rows 0 .. rows - 1 of a store with these axes. Free with recorded_free, also on failure. STATUS_NOMEM. */
enum status recorded_create(struct recorded *recorded, size_t rows, const struct variables_extent *extent);
void recorded_free(struct recorded *recorded);

/* Note a record of `row` (packed as measure/record.h); records of a unit come in order. */
void recorded_note(struct recorded *recorded, uint32_t row, const void *bytes, size_t size);

/* Set job->checks and job->samples to what every unit of the job has without a gap, in the store at `path` or since, and job->steps
 * to what its first unit has. Errors as store/reader.h; the job then has 0 of all. */
enum status recorded_fill(const struct recorded *recorded, const char *path, struct job *job);
/* The same from a store that is open. */
enum status recorded_fill_from(const struct recorded *recorded, const struct reader *reader, struct job *job);

#endif

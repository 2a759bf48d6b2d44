/* Whether this program, on this machine, gives the bits that a store was made with. */
#ifndef BNSWEEP_CLI_KIN_H
#define BNSWEEP_CLI_KIN_H

#include "bnsweep/base/status.h"
#include "bnsweep/store/reader.h"

/* Compare the numerics version and the class of bits of every engine that the store names with this program's. STATUS_INPUT naming
 * both where one differs; STATUS_NOMEM. */
enum status kin_check(const struct reader *reader);

/* Return whether the store was made with this BLAS library alone, which the reference engine computes with. STATUS_NOMEM. */
enum status kin_same_blas(const struct reader *reader, bool *out);

#endif

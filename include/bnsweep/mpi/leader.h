/* Rank 0's side of a sweep: connects the manager to the other ranks, to the caller's callbacks and to the clock. */
#ifndef BNSWEEP_MPI_LEADER_H
#define BNSWEEP_MPI_LEADER_H

#include "bnsweep/mpi/session.h"

struct leader;

/* Create the leader (local, on rank 0); freed with leader_free. `config` and `callbacks` are not owned and outlive it.
 * STATUS_INPUT, STATUS_NOMEM. */
enum status leader_create(struct comm *comm, const struct session_config *config, const struct session_callbacks *callbacks,
                          double now, struct leader **out);
void leader_free(struct leader *leader);

/* Take in a worker's message, or the status with which the message of rank `from` could not be read. */
void leader_message(struct leader *leader, int from, const struct wire_message *message, double now);
void leader_fault(struct leader *leader, enum status status, double now);

/* Commit, acknowledge, tick: what is due now. */
void leader_step(struct leader *leader, double now);

/* Start no more and stop what runs. */
void leader_drain(struct leader *leader, double now);

/* Commit what is not yet, without waiting for anybody: the process is about to end. */
void leader_rescue(struct leader *leader, double now);

bool leader_over(const struct leader *leader);

/* Return the first error, else how far the sweep came (manager_result). */
enum status leader_result(const struct leader *leader);

#endif

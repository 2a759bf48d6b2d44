#!/bin/bash
# A real time limit: Slurm sends USR1, the job saves its states and queues itself again, and goes on to the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
sed -i 's/^steps = .*/steps = 150000/; s/^check_every.*/check_every = 18750/' sweep.ini
BNSWEEP_GRACE=40 submit limit.h5 --time=2 --signal=B:USR1@60
await_end COMPLETED 0:0 1200
[ "$(field Restarts)" -ge 1 ] || fail "it was done before the limit"
grep -q 'SIGUSR1: stopping' "log.$job" || fail "no signal came"
expect_complete limit.h5 "time limit"

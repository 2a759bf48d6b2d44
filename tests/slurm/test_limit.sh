#!/bin/bash
# A real time limit: Slurm sends USR1, the job saves its states and queues itself again, and goes on to the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
# Held back to the end: of two trajectories after each other on each worker, one takes 100 s and a job less than 120.
sed -i 's/^steps.*/steps = 5000/' sweep.ini
hold_back
BNSWEEP_GRACE=40 submit limit.h5 --time=2 --signal=B:USR1@60
await_end COMPLETED 0:0 1200
let_go
[ "$(field Restarts)" -ge 1 ] || fail "it was done before the limit"
grep -q 'SIGUSR1: stopping' "log.$job" || fail "no signal came"
expect_complete limit.h5 "time limit"

#!/bin/bash
# Killed or asked to stop in the middle of a unit, and run again, at another number of ranks: the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
prepare

start() { begin "$bnsweep" run sweep.ini -o "$1" --state-every 0.2; }

start stopped.h5
await_state stopped.h5
kill -USR1 $sweep
finish
expect_rc 75 "SIGUSR1"
[ "$(value stopped.h5 "(s['status'][:] == 2).sum()")" -lt 4 ] || fail "it was done before it was stopped"
ls stopped.h5.state/* >/dev/null || fail "no state was kept"
complete stopped.h5 "stopped by SIGUSR1" 3

for round in 1 2 3; do
    start killed.h5
    await_state killed.h5
    sleep "0.$((RANDOM % 5))"
    kill_sweep
done
complete killed.h5 "after kill -9" 2
[ "$(value killed.h5 "max(s['attempts'][:]) > 1")" = True ] || fail "no unit was interrupted"

# The state of a unit that ended just before its training process was killed goes with the sweep.
mkdir killed.h5.state
touch "killed.h5.state/$(printf '%032x' 1)" "killed.h5.state/$(printf '%032x' 2).new"
run 1 sweep.ini -o killed.h5
expect_rc 0 "with states left behind"
[ ! -e killed.h5.state ] || fail "a state that nobody needs stays"

# A state that is ahead of the store (which was moved away, or lost its journal) is not gone on from: nothing would measure what it
# has behind it.
start ahead.h5
await_state ahead.h5
kill -INT $sweep
finish
let_go
expect_rc 75 "SIGINT"
rm -f ahead.h5
run 1 sweep.ini -o ahead.h5
expect_rc 0 "a new store beside an old state"
expect_log "training starts anew"
"$bnsweep" diff whole.h5 ahead.h5 >log 2>&1 || fail "a state without its store left holes"

# -j: Ctrl-C and SIGTERM end in good order too.
for signal in INT TERM; do
    begin setsid "$bnsweep" run sweep.ini -o "j$signal.h5" -j 2 --state-every 0.2
    await_state "j$signal.h5"
    kill -$signal $sweep
    finish
    expect_rc 75 "-j and SIG$signal"
    complete "j$signal.h5" "SIG$signal with -j"
done

# A deadline that is over: nothing is started, and the end says why.
run 1 sweep.ini -o late.h5 --deadline 1
expect_rc 75 "after the deadline"
expect_log "stopped before the deadline with 2 of 2 trajectories not finished"

#!/bin/bash
# Killed or asked to stop in the middle of a unit, and run again, at another number of ranks: the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
tiny 60000 | sed 's/^check_every.*/check_every = 7500/; s/^trace_every.*/trace_every = 500/' >tiny.ini
run 1 tiny.ini -o undisturbed.h5
expect_rc 0 "undisturbed"

# await_state STORE: until a unit's state was saved.
await_state() {
    local i
    for i in $(seq 600); do
        ls "$1".state/* 2>/dev/null | grep -qv '\.new$' && return
        sleep 0.05
    done
    fail "no state was saved in 30 s"
}

start() { "$bnsweep" run tiny.ini -o "$1" --state-every 0.2 >log 2>&1 & pid=$!; }

start stopped.h5
await_state stopped.h5
kill -USR1 $pid
wait $pid
rc=$?
expect_rc 75 "SIGUSR1"
[ "$(value stopped.h5 "(s['status'][:] == 2).sum()")" -lt 4 ] || fail "it was done before it was stopped"
ls stopped.h5.state/* >/dev/null || fail "no state was kept"
run 3 tiny.ini -o stopped.h5
expect_rc 0 "after SIGUSR1"
"$bnsweep" diff undisturbed.h5 stopped.h5 >log 2>&1 || fail "stopping and going on gave other bits"
[ ! -e stopped.h5.state ] || fail "states were left behind"

for round in 1 2 3; do
    start killed.h5
    await_state killed.h5
    sleep "0.$((RANDOM % 5))"
    kill -9 $pid
    wait $pid 2>/dev/null
done
run 2 tiny.ini -o killed.h5
expect_rc 0 "after kill -9"
"$bnsweep" diff undisturbed.h5 killed.h5 >log 2>&1 || fail "kill -9 and going on gave other bits"
[ "$(value killed.h5 "max(s['attempts'][:]) > 1")" = True ] || fail "no unit was interrupted"
"$bnsweep" verify killed.h5 >log 2>&1 || fail "verify finds something after kill -9"

# The state of a unit that ended just before its training process was killed goes with the sweep.
mkdir killed.h5.state
touch "killed.h5.state/$(printf '%032x' 1)" "killed.h5.state/$(printf '%032x' 2).new"
run 1 tiny.ini -o killed.h5
expect_rc 0 "with states left behind"
[ ! -e killed.h5.state ] || fail "a state that nobody needs stays"

# A state that is ahead of the store (which was moved away, or lost its journal) is not gone on from: nothing would measure what it
# has behind it.
start ahead.h5
await_state ahead.h5
kill -INT $pid
wait $pid
rc=$?
expect_rc 75 "SIGINT"
rm -f ahead.h5
run 1 tiny.ini -o ahead.h5
expect_rc 0 "a new store beside an old state"
expect_log "training starts anew"
"$bnsweep" diff undisturbed.h5 ahead.h5 >log 2>&1 || fail "a state without its store left holes"

# -j: Ctrl-C and SIGTERM end in good order too.
for signal in INT TERM; do
    setsid "$bnsweep" run tiny.ini -o "j$signal.h5" -j 2 --state-every 0.2 >log 2>&1 &
    pid=$!
    await_state "j$signal.h5"
    kill -$signal $pid
    wait $pid
    rc=$?
    expect_rc 75 "-j and SIG$signal"
    run 1 tiny.ini -o "j$signal.h5"
    expect_rc 0 "after SIG$signal"
    "$bnsweep" diff undisturbed.h5 "j$signal.h5" >log 2>&1 || fail "SIG$signal with -j and going on gave other bits"
done

# A deadline that is over: nothing is started, and the end says why.
run 1 tiny.ini -o late.h5 --deadline 1
expect_rc 75 "after the deadline"
expect_log "stopped before the deadline with 2 of 2 trajectories not finished"

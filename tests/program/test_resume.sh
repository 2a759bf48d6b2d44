#!/bin/bash
# Killed or asked to stop in the middle of a unit, and run again, at another number of ranks: the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
tiny 12000 | sed 's/^check_every.*/check_every = 1500/; s/^trace_every.*/trace_every = 100/' >tiny.ini
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

#!/bin/bash
# jobscripts/local.sh: goes on by itself after a lost rank, stops in good order, ends as the store stands, and does not try for ever.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
export BNSWEEP=$bnsweep BNSWEEP_PAUSE=1
local_sh=$BNSWEEP_SOURCE/jobscripts/local.sh
shellcheck "$BNSWEEP_SOURCE"/jobscripts/* >log || fail "shellcheck"
prepare

# INT is ignored in what a script starts in the background; a terminal's job has it.
start() { begin env --default-signal=INT setsid "$local_sh" sweep.ini -o "$1" -j 2 --state-every 0.2; }

start lost.h5
await_state lost.h5
kill_rank tail
await_moment 'grep -q "local.sh: start 1 ended with" log'
let_go
finish
expect_rc 0 "a lost rank"
expect_same lost.h5 "a lost rank"

for signal in TERM USR1 INT; do
    start $signal.h5
    await_training
    kill -$signal $sweep
    finish
    expect_rc 75 "$signal"
    expect_nobody_left "$signal"
done
let_go
"$local_sh" sweep.ini -o INT.h5 -j 2 >log 2>&1
rc=$?
expect_rc 0 "again"
expect_same INT.h5 "stopped"
"$local_sh" sweep.ini -o INT.h5 -j 2 >log 2>&1 || fail "a complete store"

# What is refused is not tried again; what always dies is tried as often as is said.
"$local_sh" sweep.ini -o INT.h5 --set check_every=5 >log 2>&1
rc=$?
expect_rc 2 "a refused sweep"
[ "$(grep -c 'bnsweep: error' log)" -le 2 ] || fail "it was tried again"
printf '#!/bin/sh\ncase "$*" in *--left*) exec "%s" "$@" ;; esac\necho >>starts\nexit 137\n' "$bnsweep" >dying
chmod +x dying
BNSWEEP=./dying BNSWEEP_STARTS=2 "$local_sh" sweep.ini -o dying.h5 >log 2>&1
rc=$?
expect_rc 75 "always dying"
[ "$(wc -l <starts)" = 2 ] || fail "$(wc -l <starts) starts, expected 2"
"$local_sh" >log 2>&1
rc=$?
expect_rc 2 "no arguments"

#!/bin/bash
# No process outlives the sweep, whoever is killed; a frozen worker's trajectory goes to another, a frozen rank 0 is given up.
. "$(dirname "$0")/support.sh"
for i in $(seq 8); do echo "1 ok 0 5 20 20 -"; done >jobs
touch hold
begin() {
    rm -f sink
    start 3 jobs "$@"
    await_moment '[ "$(children | wc -l)" = 2 ]'
    await_records 4
}
begin
kill -9 $(ranks | tail -n 1)
finish
expect_rc 137 "a killed worker rank"

begin
kill -9 $(ranks | head -n 1)
finish
expect_rc 137 "a killed rank 0"

begin
pkill -9 -P $session mpirun
finish
expect_rc 137 "a killed mpirun"

rm -f sink
start 1 jobs
await_records 2
kill -9 $(ranks)
finish
expect_rc 137 "a killed single rank"

# Frozen: the limits are short here.
for i in $(seq 4); do echo "1 ok 0 5 20 20 -"; done >jobs
rm -f sink
start 3 jobs silent_seconds=2 ping_seconds=0.2 stop_seconds=1
await_records 4
frozen=$(ranks | tail -n 1)
kill -STOP $frozen
rm hold
await '[ "$(ends sink | wc -l)" = 4 ]'
await 'grep -q "SIGTERM\|abort\|ABORT" log || ! ranks | grep -qv $frozen'
kill -CONT $frozen 2>/dev/null
finish
expect_unique_ends
grep -q 'said nothing for' sink || fail "the frozen worker was not noticed"
expect_log 'rank 2 on .* is given up, and its work goes to others: the worker said nothing for'

touch hold
begin silent_seconds=2 ping_seconds=0.2
first=$(ranks | head -n 1)
kill -STOP $first
await '! ranks | grep -qv "^$first\$"'
kill -CONT $first 2>/dev/null
finish
[ "$rc" != 0 ] || fail "a frozen rank 0 counted as success"
expect_log 'heard nothing of rank 0'

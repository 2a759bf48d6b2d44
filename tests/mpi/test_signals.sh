#!/bin/bash
# Stopping on a signal or a deadline loses nothing: exit status 75, and going on gives the content of a run that was never stopped.
. "$(dirname "$0")/support.sh"
jobs_with_states() {
    for i in $(seq 6); do echo "2 ok 0 5 6 $((i * 100)) $1.$i"; done
}
jobs_with_states - >plain
sed -i 's/-\.[0-9]*$/-/' plain
start 3 plain
finish
expect_rc 0 "never stopped"
content sink >whole

# $1: ranks, $2: how to stop, $3: the session's limits. Goes on until it is complete.
stop_and_go_on() {
    rm -f sink state.*
    jobs_with_states "$folder/state" >jobs
    touch hold
    start $1 jobs commit_seconds=0.05 $3
    await_records 4
    eval "$2"
    finish
    expect_rc 75 "stopped by $2 at $1 ranks"
    [ "$(ends sink | wc -l)" -lt 12 ] || fail "it was not stopped"
    cp sink first
    rm -f sink hold
    start $1 jobs
    finish
    expect_rc 0 "going on after $2"
    cat first sink >both
    content both | uniq >all
    cmp whole all || fail "stopped and continued, the content differs ($2 at $1 ranks)"
}
stop_and_go_on 1 'kill -USR1 $(ranks)' ''
stop_and_go_on 1 'kill -INT $(ranks)' ''
stop_and_go_on 3 'pkill -USR1 -P $session mpirun' ''
stop_and_go_on 5 'pkill -USR1 -P $session mpirun' ''
stop_and_go_on 3 true 'seconds=4 start_margin=1 stop_margin=1'

# A state saved on the signal is one that going on started from: not every record came again.
[ "$(content both | wc -l)" -lt "$(( $(wc -l <whole) + $(wc -l <first) ))" ] || fail "everything was trained again"

# Deaf to the request: killed after stop_seconds.
rm -f sink
touch hold
echo '1 deaf 99 30 50 20 -' >deaf
start 2 deaf stop_seconds=0.5
await_records 4
pkill -USR1 -P $session mpirun
finish
expect_rc 75 "a training process that does not stop"
grep -q '^unit 0 pending' sink || fail "the unit is not pending"

# A second SIGTERM does not wait.
for count in 1 3; do
    rm -f sink
    start $count deaf stop_seconds=60
    await_records 4
    for rank in $(ranks); do kill -TERM $rank; done
    await 'grep -q "SIGTERM: stopping" log'
    for rank in $(ranks); do kill -TERM $rank; done
    finish
    expect_rc 75 "two signals at $count ranks"
done

# A worker that leaves: the others do its work.
rm -f sink
touch hold
start 3 plain commit_seconds=0.05
await_records 4
kill -TERM $(ranks | tail -n 1)
await_moment 'grep -q "takes no more work: SIGTERM" log'
rm hold
finish
expect_rc 0 "one worker left"
content sink | uniq | cmp - whole || fail "the content differs after a worker left"
expect_unique_ends

# All of them leave: incomplete.
rm -f sink
touch hold
start 2 plain commit_seconds=0.05
await_records 4
kill -TERM $(ranks | tail -n 1)
finish
expect_rc 75 "the only worker left"

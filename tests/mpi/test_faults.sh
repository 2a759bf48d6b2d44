#!/bin/bash
# Whatever a training process does, its trajectory is tried three times and then given up with the reason; the others go on.
. "$(dirname "$0")/support.sh"
cat >jobs <<'END'
2 ok 0 1 5 200 -
1 segv 1 0 3 20 -
1 segv 99 0 3 20 -
1 kill 99 0 3 20 -
1 exit0 99 0 3 20 -
1 exit3 99 0 3 20 -
1 hang 99 0 3 20 -
1 garbage 99 0 3 20 -
1 noend 99 0 3 20 -
1 wrongrow 99 0 3 20 -
1 env 99 0 3 20 -
1 descriptors 99 0 3 20 -
1 abort 99 0 3 20 -
1 torn 99 0 3 20 -
1 flood 99 0 3 20 -
1 memory 99 0 3 20 -
1 ok 0 1 5 200 -
END
expect_failure() {
    grep -q "^unit $1 failed 3 [0-9]* .*$2" sink || fail "unit $1 did not fail with \"$2\": $(grep "^unit $1 failed" sink)"
}
for count in 1 2 3 5; do
    rm -f sink
    start $count jobs hang_seconds=1
    finish
    expect_rc 1 "some failed"
    expect_failure 3 'killed by signal 11 (Segmentation fault)'
    expect_failure 4 'killed by signal 9 (Killed): out of memory?'
    expect_failure 5 'ended without having finished'
    expect_failure 6 'the data file is gone (exit status 3)'
    expect_failure 7 'no progress for 1 s'
    expect_failure 8 'wrote something else than messages'
    expect_failure 9 'finished without the end of unit 9'
    expect_failure 10 'only 3 of them were in order'
    expect_failure 13 'killed by signal 6 (Aborted)'
    expect_failure 14 'ended within a message'
    expect_failure 15 'wrote something else than messages'
    expect_failure 16 'out of memory: could not get 1073741824 bytes (exit status 1)'
    [ "$(grep -c '^unit [0-9]* failed' sink)" = 12 ] || fail "not just these twelve failed"
    [ "$(ends sink | tr '\n' ' ')" = '0 1 2 11 12 17 ' ] || fail "ended: $(ends sink)"
    expect_log '12 of 17 trajectories failed'
    [ "$(awk '$1 == "unit" && $2 == 4 && $3 == "running" {print $5}' sink | sort -u | wc -l)" -ge $((count > 2 ? 2 : 1)) ] ||
        fail "one worker had all attempts of unit 4"
done

# A process killed from outside is tried again.
rm -f sink
touch hold
echo '1 ok 0 5 15 20 -' >slow
start 3 slow
await_records 2
kill -9 $(children)
await_moment 'grep -q "attempt 1.*killed by signal 9" log'
rm hold
finish
expect_rc 0 "a killed training process"
expect_unique_ends
[ "$(ends sink)" = 0 ] || fail "the killed one did not end"

# A worker on which everything crashes costs no unit its attempts: it is held back, and the others do the work.
rm -f sink
for i in $(seq 16); do echo "1 ok 0 20 3 20 -"; done >good
start 3 good bad=2
finish
expect_rc 0 "a bad worker"
expect_log 'rank 2 on .* gets no work for now: 3 trajectories in a row crashed there and nowhere else'
[ "$(ends sink | wc -l)" = 16 ] || fail "$(ends sink | wc -l) of 16 ended"
[ "$(grep -c 'exit status 1 without a message' sink)" = 3 ] || fail "the bad worker had $(grep -c 'exit status 1' sink) tries"

# A full disk stops the sweep, with what it took before. Nobody waits for acknowledgements, neither to save a state (that would be a
# training process's 10 s, of which it has 5) nor to go on writing into a pipe whose reader has had enough
# (64 MB, while the disk hangs).
for count in 1 3; do
    for records in "5 20" "300 1000000"; do
        rm -f sink
        for i in $(seq 20); do echo "1 ok 0 5 $records s$i"; done >many
        start $count many full=7 stuck=2 stop_seconds=5
        finish
        expect_rc 1 "a full disk"
        expect_log 'IO: the disk is full'
        [ "$(records)" = 7 ] || fail "$(records) records, expected 7"
        ! grep -q MPI_ABORT log || fail "a worker did not stop"
        [ "$records" = "5 20" ] || expect_log 'not all records are on disk'
    done
done

# All ranks run the same program, and one that starts several managers is refused.
rm -f sink
start 3 many other=2
finish
expect_rc 2 "another program"
expect_log 'rank 2 on .* runs "another program", rank 0 .* runs "session_driver"'
export SLURM_NTASKS=4
start 1 many
finish
unset SLURM_NTASKS
expect_rc 2 "a world of one under Slurm"
expect_log 'srun --mpi=pmix'

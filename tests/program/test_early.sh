#!/bin/bash
# Struck while it starts: USR1 at random moments of the first second, kill -9 of a rank at random moments of its first half second.
# It ends by itself, by USR1 always with 75, and what it left goes on to the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
tries=4
[ "${1:-}" = long ] && tries=30
prepare
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"

# As the job scripts do: USR1 is ignored until there is a handler, and repeated.
start() {
    trap '' USR1
    begin "$bnsweep" run sweep.ini -o early.h5 -j 2 --state-every 0.2
    trap - USR1
}

for ((try = 0; try < tries; try++)); do
    start
    sleep "0.$(printf %03d $((RANDOM % 1000)))"
    while kill -USR1 $sweep 2>/dev/null; do sleep 0.3; done
    finish
    expect_rc 75 "USR1, try $try"
    expect_nobody_left "USR1, try $try"
done
echo "USR1 in the first second: $tries tries, all ended with 75"

hung=0
for ((try = 0; try < tries; try++)); do
    start
    await_moment '[ -n "$(ranks)" ]'
    sleep "0.$(printf %03d $((RANDOM % 500)))"
    kill -9 "$(ranks | shuf -n 1)"
    await '! sweep_runs'
    grep -q 'had lost its ranks' log && hung=$((hung + 1))
    expect_nobody_left "killed rank, try $try"
done
complete early.h5 "after all of this" 3
echo "kill -9 of a rank in its first half second: $tries tries, all ended ($hung by the launcher, since mpirun hung), same bits"

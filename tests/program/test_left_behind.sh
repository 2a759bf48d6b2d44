#!/bin/bash
# Whoever is killed, within ten seconds no process of the sweep is left, and going on gives the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
prepare 10000

# As a terminal has it: a process group of its own, which Ctrl-C reaches whole.
start() { setsid "$bnsweep" run sweep.ini -o lost.h5 -j 2 --state-every 0.2 >log 2>&1 & launcher=$!; }

killed=0
for victim in launcher mpirun rank0 worker all; do
    start
    await '[ "$(children | wc -l)" -ge 1 ]'
    case $victim in
    launcher) kill -9 $launcher ;;
    mpirun) kill -9 "$(pgrep -P $launcher -x mpirun)" ;;
    rank0) kill -9 "$(ranks | head -n 1)" ;;
    worker) kill -9 "$(ranks | tail -n 1)" ;;
    all) kill -9 $(ours) 2>/dev/null ;;
    esac
    expect_nobody_left "killed $victim"
    wait $launcher 2>/dev/null
    killed=$((killed + 1))
done
start
await_state lost.h5
kill -INT -- -$launcher
wait $launcher
rc=$?
expect_nobody_left "Ctrl-C"
expect_rc 75 "Ctrl-C"
complete lost.h5 "after all of this"
echo "$killed kills and a Ctrl-C: nobody was left behind, $(value lost.h5 "s['attempts'][:].sum()") attempts of 4 units, same bits"

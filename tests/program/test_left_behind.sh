#!/bin/bash
# Whoever is killed, within ten seconds no process of the sweep is left, and going on gives the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
prepare 60000

# As a terminal has it: a process group of its own, which Ctrl-C reaches whole.
start() { env --default-signal=INT setsid "$bnsweep" run sweep.ini -o "$1.h5" -j 2 --state-every 0.2 >log 2>&1 & launcher=$!; }

for victim in launcher mpirun rank0 worker all ctrl-c; do
    start $victim
    await '[ "$(children | wc -l)" -ge 1 ]'
    case $victim in
    launcher) kill -9 $launcher ;;
    mpirun) kill -9 "$(pgrep -P $launcher -x mpirun)" ;;
    rank0) kill_rank head ;;
    worker) kill_rank tail ;;
    all) kill -9 $(ours) 2>/dev/null ;;
    ctrl-c) kill -INT -- -$launcher ;;
    esac
    wait $launcher 2>/dev/null
    rc=$?
    [ $victim != ctrl-c ] || expect_rc 75 $victim
    expect_nobody_left $victim
    complete $victim.h5 $victim
    echo "$victim: nobody was left behind; $(value $victim.h5 "s['attempts'][:].sum()") attempts of 4 units, same bits"
done

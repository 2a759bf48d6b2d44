#!/bin/bash
# Whoever is killed, within ten seconds no process of the sweep is left, and going on gives the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
prepare

for victim in launcher mpirun rank0 worker all ctrl-c twice; do
    # As a terminal has it: a process group of its own, which Ctrl-C reaches whole.
    begin env --default-signal=INT setsid "$bnsweep" run sweep.ini -o $victim.h5 -j 2 --state-every 0.2
    await_training
    case $victim in
    launcher) kill -9 $sweep ;;
    mpirun) kill -9 "$(pgrep -P $sweep -x mpirun)" ;;
    rank0) kill_rank head ;;
    worker) kill_rank tail ;;
    all) kill -9 $(ours) 2>/dev/null ;;
    ctrl-c) kill -INT -- -$sweep ;;
    twice) kill -TERM $sweep && sleep 0.1 && kill -TERM $sweep ;; # "now", while the states are being saved
    esac
    finish
    [[ $victim != ctrl-c && $victim != twice ]] || expect_rc 75 $victim
    expect_nobody_left $victim
    "$bnsweep" run --left sweep.ini -o $victim.h5 >log
    rc=$?
    expect_rc 75 "$victim: something must be left"
    complete $victim.h5 $victim
    echo "$victim: nobody was left behind; $(value $victim.h5 "s['attempts'][:].sum()") attempts of 4 units, same bits"
done

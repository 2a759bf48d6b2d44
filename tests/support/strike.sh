# shellcheck shell=bash
# For scripts that strike at a sweep in the middle: hold it there, wait for the moment, know who runs, and that nobody stays.
# The script has set `folder`, where all of the sweep's processes run and nothing else, and has fail().

# What trains from now on takes 20 ms a step until let_go: 4000 steps last 80 s on any machine, and a test that waits for its moment gives
# up before that. What was struck can then go on at full speed.
hold_back() {
    export PACE_US=20000 PACE_WHILE=$folder/held LD_PRELOAD=$BNSWEEP_BIN/../tests/support/pace_shim.so
    [ -e "$LD_PRELOAD" ] || fail "there is no $LD_PRELOAD: build the tests"
    touch "$PACE_WHILE"
}
let_go() { rm -f "$folder/held"; }

# ours [NAMES]: the processes of this test: job scripts, launchers, ranks, training processes; or those of such names.
ours() {
    local path name names=${1:-bnsweep|mpirun|orted|srun|slurm_script|local.sh|session_driver|fake_trainer}
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$folder" 2>/dev/null | while read -r path; do
        read -r name 2>/dev/null <"${path%cwd}comm" || continue # it has ended
        [[ $name =~ ^($names)$ ]] && basename "${path%/cwd}"
    done | sort -n
}
expect_nobody_left() { # WHAT
    local until=$((SECONDS + 10)) left
    while left=$(ours) && [ -n "$left" ]; do
        if [ $SECONDS -gt $until ]; then
            tell
            # shellcheck disable=SC2086 # numbers
            kill -9 $left
            fail "$1: still running after 10 s"
        fi
        sleep 0.05
    done
}

# What is there, for whoever has to find out why a test failed.
tell() {
    local pids
    pids=$(ours)
    echo "there are these processes and files:"
    # shellcheck disable=SC2086
    [ -z "$pids" ] || ps -o pid,ppid,stat,etime,args -p $pids
    ls -lR --time-style=full-iso
}

# await CONDITION [SECONDS]: until it is true.
await() {
    local until=$((SECONDS + ${2:-60}))
    until eval "$1"; do
        if [ $SECONDS -gt $until ]; then
            tell
            fail "waited ${2:-60} s in vain for: $1"
        fi
        sleep 0.02
    done
}
# await_moment CONDITION [SECONDS]: the same in a sweep that runs, as sweep_runs says. One that is over before was not to be struck.
await_moment() {
    local until=$((SECONDS + ${2:-60}))
    until eval "$1"; do
        if ! sweep_runs && ! eval "$1"; then
            tell
            fail "the sweep ended before: $1"
        fi
        if [ $SECONDS -gt $until ]; then
            tell
            fail "the sweep runs, but for ${2:-60} s not: $1"
        fi
        sleep 0.02
    done
}
# await_state STORE: until a unit's state was saved since hold_back.
await_state() { await_moment "find '$1.state' -type f -name '*[!w]' -newer '$folder/held' 2>/dev/null | grep -q ."; }

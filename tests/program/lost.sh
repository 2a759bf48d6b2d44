# shellcheck shell=bash
# For the scripts of this folder that strike at a sweep in the middle. Comes after support.sh.
. "$BNSWEEP_SOURCE/tests/support/strike.sh"

# begin COMMAND...: in the background, held back; its output in log, its process in `sweep`.
begin() {
    hold_back
    "$@" >log 2>&1 &
    sweep=$!
}
sweep_runs() { kill -0 $sweep 2>/dev/null; }
# Wait for its end: exit status in rc.
finish() {
    wait $sweep 2>/dev/null
    rc=$?
}
kill_sweep() {
    kill -9 $sweep
    finish
}
# ranks: the processes that mpirun started, rank 0 first.
ranks() {
    local pid
    for pid in $(ours); do
        tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n "s/^OMPI_COMM_WORLD_RANK=\(.*\)/\1 $pid/p"
    done | sort -n | cut -d' ' -f2
}
children() {
    local pid
    for pid in $(ours); do
        [ "$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")" = "bnsweep train " ] && echo "$pid"
    done
    return 0
}
await_training() { await_moment '[ -n "$(children)" ]'; }
# kill_rank head|tail: kill rank 0, or the last one, as soon as it is there.
kill_rank() { await_moment "pid=\$(ranks | $1 -n 1); [ -n \"\$pid\" ] && kill -9 \"\$pid\" 2>/dev/null"; }

# The sweep of these tests, long where it is held back, and its undisturbed store.
prepare() {
    tiny 4000 | sed 's/^check_every.*/check_every = 500/; s/^trace_every.*/trace_every = 50/' >sweep.ini
    run 1 sweep.ini -o whole.h5
    expect_rc 0 "undisturbed"
}
# complete STORE WHAT [RANKS]: run to the end; then it has the bits of the undisturbed one.
complete() {
    let_go
    run "${3:-1}" sweep.ini -o "$1"
    expect_rc 0 "$2, going on"
    expect_same "$1" "$2"
}
expect_same() {
    "$bnsweep" diff whole.h5 "$1" >log 2>&1 || fail "$2: other bits than undisturbed"
    "$bnsweep" verify "$1" >log 2>&1 || fail "$2: verify finds something"
    [ ! -e "$1.state" ] || fail "$2: states were left behind"
}

# shellcheck shell=bash
# For the scripts of this folder that kill ranks: who is there, and that nobody stays. Comes after support.sh.

# The processes of this test: they run in its folder. ranks: those that mpirun started, rank 0 first.
ours() {
    local path name
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$folder" 2>/dev/null | while read -r path; do
        read -r name 2>/dev/null <"${path%cwd}comm" || continue # it has ended
        [[ $name =~ ^(bnsweep|mpirun|orted|local.sh)$ ]] && basename "${path%/cwd}"
    done
    return 0
}
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
expect_nobody_left() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ -z "$(ours)" ] && return
        sleep 0.1
    done
    # shellcheck disable=SC2046 # numbers
    ps -o pid,ppid,args -p $(ours)
    # shellcheck disable=SC2046
    kill -9 $(ours)
    fail "$1: still running after 10 s"
}
# Wait until a command succeeds, at most 30 s.
await() {
    local i
    for ((i = 0; i < 600; i++)); do
        eval "$1" && return
        sleep 0.05
    done
    fail "waited in vain for: $1"
}
# kill_rank head|tail: kill rank 0, or the last one, as soon as it is there.
kill_rank() { await "pid=\$(ranks | $1 -n 1); [ -n \"\$pid\" ] && kill -9 \"\$pid\" 2>/dev/null"; }
await_state() { await "find '$1.state' -type f -name '*[!w]' 2>/dev/null | grep -q ."; }

# The sweep of these tests, and its undisturbed store.
prepare() {
    tiny "$1" | sed "s/^check_every.*/check_every = $(($1 / 8))/; s/^trace_every.*/trace_every = 500/" >sweep.ini
    run 1 sweep.ini -o whole.h5
    expect_rc 0 "undisturbed"
}
# complete STORE WHAT: run to the end; then it has the bits of the undisturbed one.
complete() {
    run "${3:-1}" sweep.ini -o "$1"
    expect_rc 0 "$2, going on"
    expect_same "$1" "$2"
}
expect_same() {
    "$bnsweep" diff whole.h5 "$1" >log 2>&1 || fail "$2: other bits than undisturbed"
    "$bnsweep" verify "$1" >log 2>&1 || fail "$2: verify finds something"
    [ ! -e "$1.state" ] || fail "$2: states were left behind"
}

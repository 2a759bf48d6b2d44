# For the scripts of this folder: `start RANKS JOBS [LIMIT=VALUE ...]` in the background, `finish` to wait for it.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
command -v mpirun >/dev/null || { echo "no mpirun"; exit 77; }
programs=$BNSWEEP_BIN/../tests/mpi
folder=$(mktemp -d)
session=
trap '[ -z "$session" ] || kill -9 $session 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() { echo "FAILED: $*"; [ ! -f log ] || tail -n 20 log; exit 1; }

. "$BNSWEEP_SOURCE/tests/support/strike.sh"
sweep_runs() { kill -0 $session 2>/dev/null; }

# The driver's pids, or the training processes' (zombies of a slow init aside).
ranks() { ours session_driver; }
children() { ours fake_trainer; }

start() {
    local count=$1 jobs=$2 launcher=
    shift 2
    [ "$count" = 1 ] || launcher="mpirun --oversubscribe --bind-to none -n $count"
    timeout ${limit:-120} $launcher "$programs/session_driver" "$programs/fake_trainer" "$jobs" sink "$@" >log 2>&1 &
    session=$!
}

# Sets rc; nothing of the sweep may be left behind.
finish() {
    wait $session
    rc=$?
    session=
    expect_nobody_left "the sweep"
}

# The content of a sink: row, bytes and kind of each record, attempts aside.
content() { awk '$1 == "record" {print $2, $5, $6}' "$1" | sort; }
ends() { awk '$1 == "record" && $6 == 2 {print $2}' "$1" | sort -n; }
records() { grep -c ^record sink; }
# Until so many records were taken in, by a sweep that goes on.
await_records() { await_moment "[ -f sink ] && [ \"\$(records)\" -ge $1 ]"; }
expect_rc() { [ "$rc" = "$1" ] || fail "exit status $rc, expected $1 ($2)"; }
expect_log() { grep -q "$1" log || fail "the output does not say: $1"; }
expect_unique_ends() { [ -z "$(ends sink | uniq -d)" ] || fail "a unit ended twice"; }

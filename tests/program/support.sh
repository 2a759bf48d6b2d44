# For the scripts of this folder: the built program on tiny sweeps, in a folder of its own.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
command -v mpirun >/dev/null || { echo "no mpirun"; exit 77; }
bnsweep=$BNSWEEP_BIN/bnsweep
python=/usr/bin/python3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() { echo "FAILED: $*"; [ ! -f log ] || tail -n 30 log; exit 1; }

# run RANKS ARGUMENT...: `bnsweep run`, alone or on so many ranks; its output in log, its exit status in rc.
run() {
    local ranks=$1
    shift
    if [ "$ranks" = 1 ]; then
        timeout 300 "$bnsweep" run "$@" >log 2>&1
    else
        timeout 300 mpirun -q --oversubscribe --bind-to none -n "$ranks" "$bnsweep" run "$@" >log 2>&1
    fi
    rc=$?
}
expect_rc() { [ "$rc" = "$1" ] || fail "exit status $rc, expected $1 ($2)"; }
expect_log() { grep -qF -- "$1" log || fail "the output does not say: $1"; }

# tests/support/tiny.ini with so many steps: a second at most.
tiny() { sed "s/^steps .*/steps = ${1:-24}/" "$BNSWEEP_SOURCE/tests/support/tiny.ini"; }

# value STORE EXPRESSION: an expression over `s`, the open h5py file.
value() { "$python" -c "import h5py, numpy as np, sys; s = h5py.File(sys.argv[1], 'r'); print($2)" "$1"; }

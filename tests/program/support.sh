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

# A sweep of four units in two trajectories that takes a second; STEPS and further lines may be given.
tiny() {
    cat <<END
[sweep]
name = tiny
[task]
image = 8
classes = 3
[network]
channels = 6-10
[train]
steps = ${1:-24}
batch = 8
bn_momentum = 0.03, 0.3
[measure]
first_check = 8
check_every = 8
angle_window = 5
val_size = 20
trace_every = 4
reest_batches = 3
[arm sgd]
optimizer = sgd
lr = 0.05
momentum = 0.9
[arm adam]
optimizer = adam
lr = 3e-3
END
}

# value STORE EXPRESSION: an expression over `s`, the open h5py file.
value() { "$python" -c "import h5py, numpy as np, sys; s = h5py.File(sys.argv[1], 'r'); print($2)" "$1"; }

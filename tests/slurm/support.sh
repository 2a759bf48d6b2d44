# For the scripts of this folder: jobs of the built program on the two nodes that cluster.sh has started, in a folder of the test's own.
# shellcheck shell=bash
set -u
export SLURM_CONF=$CLUSTER/conf/slurm.conf
[ -e "$SLURM_CONF" ] || { echo "no Slurm runs: start it with cluster.sh"; exit 77; }
# Both nodes are this machine: MPI between them goes over the loopback device, and not through shared memory that is twice there.
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export BNSWEEP=$BNSWEEP_BIN/bnsweep BNSWEEP_PAUSE=1 BNSWEEP_WATCH=5
script=$BNSWEEP_SOURCE/jobscripts/slurm.sbatch
python=/usr/bin/python3
cluster=$(readlink "$CLUSTER")
folder=$(mktemp -d)
jobs=0
job=
trap 'leave' EXIT
cd "$folder" || exit 1

leave() {
    # shellcheck disable=SC2046 # numbers
    scancel $(squeue -h -o %A) 2>/dev/null
    rm -f "$cluster"/node?.dead
    cd / && rm -rf "$folder"
}
fail() { echo "FAILED: $*"; [ -z "$job" ] || tail -n 40 "log.$job"; exit 1; }

# Eight trajectories, sixteen units; about five seconds of one core.
cat >sweep.ini <<'INI'
[sweep]
name = sweep
[task]
image = 8
classes = 3
[network]
channels = 6-10
[train]
steps = 5000
batch = 8
bn_momentum = 0.03, 0.3
[measure]
first_check = 8
check_every = 625
angle_window = 5
val_size = 20
trace_every = 500
reest_batches = 3
[grid]
seed = 0..3
[arm sgd]
optimizer = sgd
lr = 0.05
momentum = 0.9
[arm adam]
optimizer = adam
lr = 3e-3
INI
units=16

# submit STORE [option of sbatch]...: slurm.sbatch over both nodes, two workers on each; its output in log.JOB.
submit() {
    local store=$1
    shift
    submit_script --nodes=2 --ntasks-per-node=2 --mem-per-cpu=100 --time=10 "$@" "$script" sweep.ini -o "$store" --state-every 0.2
}
submit_script() {
    job=$(sbatch --parsable -o log.%j "$@") || fail "sbatch refused the job"
    jobs=$((jobs + 1))
}
# Reads a field of the job, such as JobState.
field() { scontrol show job "$job" | grep -o "\b$1=[^ ]*" | cut -d= -f2; }

# Wait until a command succeeds, at most $2 seconds.
await() {
    local i
    for ((i = 0; i < ${2:-60} * 20; i++)); do
        eval "$1" && return
        sleep 0.05
    done
    fail "waited in vain for: $1"
}
# Until a unit's state was saved by the job that runs.
await_state() { await "find '$1.state' -name '*[!w]' -type f 2>/dev/null | grep -q ."; }
# Until the job is over, in this state, with this exit status; then nothing of it may be left on any node.
await_end() { # STATE CODE [SECONDS]
    await '[ -z "$(squeue -h -j "$job" 2>/dev/null)" ]' "${3:-90}"
    [ "$(field JobState) $(field ExitCode)" = "$1 $2" ] || fail "the job ended as $(field JobState) $(field ExitCode), not as $1 $2"
    expect_nothing_left
}

# Processes of this test: they run in its folder (job scripts, launchers, ranks, training processes).
ours() {
    local path name
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$folder" 2>/dev/null | while read -r path; do
        read -r name 2>/dev/null <"${path%cwd}comm" || continue # it has ended
        [[ $name =~ ^(bnsweep|mpirun|orted|srun|slurm_script)$ ]] && basename "${path%/cwd}"
    done
    return 0
}
expect_nothing_left() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ -z "$(ours)" ] && return
        sleep 0.1
    done
    # shellcheck disable=SC2046
    fail "still running after 10 s: $(ps -o pid,args -p $(ours))"
}

# value STORE EXPRESSION: an expression over `s`, the open h5py file.
value() { "$python" -c "import h5py, numpy as np, sys; s = h5py.File(sys.argv[1], 'r'); print($2)" "$1"; }

# The store is complete, sound, and has the bits of a run that nobody disturbed; says what was counted.
expect_complete() { # STORE WHAT
    local diff whole
    whole=$cluster/whole.$(cksum <sweep.ini | cut -d' ' -f1).h5
    "$BNSWEEP" run --left sweep.ini -o "$1" >left || fail "$2: $(cat left)"
    [ "$(value "$1" "(s['status'][:] == 2).sum()")" = $units ] || fail "$2: not all units are done"
    [ -e "$whole" ] || "$BNSWEEP" run sweep.ini -o "$whole" >whole.log 2>&1 || fail "the undisturbed run: $(cat whole.log)"
    diff=$("$BNSWEEP" diff "$whole" "$1") || fail "$2: other bits than undisturbed: $diff"
    "$BNSWEEP" verify "$1" >verify.log 2>&1 || fail "$2: $(cat verify.log)"
    [ ! -e "$1.state" ] || fail "$2: states were left behind"
    echo "$2: $jobs jobs, $(field Restarts) requeues, $(grep -c ': start ' "log.$job") starts, $units units" \
        "($(value "$1" "s['attempts'][:].sum()") attempts), $(echo "$diff" | grep -o '[0-9]* values compared, [0-9]* differ')"
}

# What runs on a node: all tasks and the steps that they belong to; the ranks of this test.
on_node() {
    local pid parent
    for pid in $(grep -lzxs "SLURMD_NODENAME=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        parent=$(ps -o ppid= -p "$pid")
        [ "$(cat "/proc/${parent// /}/comm" 2>/dev/null)" != slurmstepd ] || echo "${parent// /}"
        echo "$pid"
    done | sort -u
}
ranks() {
    local pid
    for pid in $(pgrep -x bnsweep); do
        [ "$(readlink "/proc/$pid/cwd")" = "$folder" ] && grep -qszx run "/proc/$pid/cmdline" &&
            grep -qszx "SLURMD_NODENAME=$1" "/proc/$pid/environ" && echo "$pid"
    done
    return 0
}

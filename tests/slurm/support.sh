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
. "$BNSWEEP_SOURCE/tests/support/strike.sh"
sweep_runs() { [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; }

# Eight trajectories, sixteen units; a few seconds of one core, or 160 where they are held back.
sed 's/^steps.*/steps = 4000/; s/^check_every.*/check_every = 500/; s/^trace_every.*/trace_every = 50/
     s/^\[arm sgd\]/[grid]\nseed = 0..3\n&/' "$BNSWEEP_SOURCE/tests/support/tiny.ini" >sweep.ini
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

# Until the job is over, in this state, with this exit status; then nothing of it may be left on any node.
await_end() { # STATE CODE [SECONDS]
    await '! sweep_runs' "${3:-90}"
    [ "$(field JobState) $(field ExitCode)" = "$1 $2" ] || fail "the job ended as $(field JobState) $(field ExitCode), not as $1 $2"
    expect_nobody_left "job $job"
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

#!/bin/bash
# A real Slurm of two "nodes" on this machine, for the tests of this folder: `cluster.sh start` and `cluster.sh stop`.
# Everything it makes is in one temporary folder, which $CLUSTER (a link) names; conf/slurm.conf there is the SLURM_CONF of its users.
# The daemons belong to a keeper that ends them when it is told to, when ctest is gone, or after two hours.
set -u
link=${CLUSTER:?where the link to the cluster\'s folder is to be}
port=${CLUSTER_PORT:-16817}
for daemon in munged slurmctld slurmd; do
    command -v $daemon >/dev/null || { echo "no $daemon"; exit 77; }
done

conf() { # FOLDER
    local host user
    host=$(hostname -s)
    user=$(id -un)
    cat <<CONF
ClusterName=ci
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=cred_expire=5,socket=$1/munge.socket
CryptoType=crypto/munge
# Nothing listens beyond this machine.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/%n
# One a node, or the two nodes' PMIx servers would meet.
TmpFS=$1/%n/tmp
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd-%n.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd-%n.log
MailProg=/bin/true
ReturnToService=2
KillWait=5
SlurmdTimeout=10
JobRequeue=1
MinJobAge=3600
SlurmdParameters=config_overrides
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 184)) CPUs=3 RealMemory=8000 State=UNKNOWN
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 185)) CPUs=3 RealMemory=8000 State=UNKNOWN
PartitionName=ci Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

# Every process that was started in this cluster: daemons, steps, job scripts, ranks.
members() { grep -lzxs "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | grep -vx $$; }

# End all of it: jobs in good order, what is left by force.
end() {
    trap '' TERM INT HUP
    scancel --user="$(id -un)" 2>/dev/null
    for ((i = 0; i < 50; i++)); do
        [ -z "$(squeue -h 2>/dev/null)" ] && break
        sleep 0.1
    done
    # shellcheck disable=SC2046 # numbers
    kill $(jobs -p) 2>/dev/null
    sleep 0.5
    # shellcheck disable=SC2046
    kill -9 $(members) 2>/dev/null
    exit 0
}

# Start the daemons in the foreground, as children, and stay until it is time to end them. A node that a test has killed comes back
# when the file NODE.dead, which keeps it dead, is gone.
keep() { # FOLDER OWNER
    local folder=$1 owner=$2
    declare -A slurmd=()
    trap end TERM INT HUP
    umask 077
    dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 status=none
    munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" --num-threads=2 &
    umask 022
    slurmctld -D -c -f "$SLURM_CONF" &
    for ((i = 0; i < 14400; i++)); do
        for node in node1 node2; do
            if [ ! -e "$folder/$node.dead" ] && { [ -z "${slurmd[$node]:-}" ] || ! kill -0 "${slurmd[$node]}" 2>/dev/null; }; then
                slurmd -D -N $node -f "$SLURM_CONF" &
                slurmd[$node]=$!
                echo $! >"$folder/$node.pid"
            fi
        done
        kill -0 "$owner" 2>/dev/null || break
        sleep 0.5 &
        wait $!
    done
    end
}

start() {
    local folder
    stop
    folder=$(mktemp -d /tmp/bnsweep-slurm.XXXXXX) # short: a socket's path has 107 bytes at most
    mkdir -p "$folder"/{conf,state,node1/tmp,node2/tmp} "$(dirname "$link")"
    chmod 755 "$folder"
    conf "$folder" >"$folder/conf/slurm.conf"
    ln -sfn "$folder" "$link"
    export SLURM_CONF=$folder/conf/slurm.conf
    setsid "$0" keep "$folder" "${CLUSTER_OWNER:-$PPID}" >"$folder/keeper.log" 2>&1 </dev/null &
    echo $! >"$folder/keeper.pid"
    for ((i = 0; i < 300; i++)); do
        [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" = 2 ] && { echo "two nodes are up: $folder"; return 0; }
        sleep 0.1
    done
    echo "the nodes did not come up in 30 s"
    tail -n 20 "$folder"/*.log
    stop
    return 1
}

stop() {
    local folder keeper
    folder=$(readlink "$link") || return 0
    keeper=$(cat "$folder/keeper.pid" 2>/dev/null)
    # The number may be another process's by now.
    if [ -n "$keeper" ] && tr "\0" " " 2>/dev/null <"/proc/$keeper/cmdline" | grep -q "keep $folder"; then
        kill "$keeper"
        for ((i = 0; i < 100; i++)); do
            kill -0 "$keeper" 2>/dev/null || break
            sleep 0.1
        done
    fi
    rm -rf "$folder" "$link"
}

case ${1:-} in
start) start ;;
stop) stop ;;
keep) keep "$2" "$3" ;;
*) echo "usage: CLUSTER=LINK cluster.sh start|stop"; exit 2 ;;
esac

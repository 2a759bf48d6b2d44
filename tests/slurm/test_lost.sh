#!/bin/bash
# scancel and submitted again; a killed rank; a node that dies: the sweep goes on to the same bits, and nothing is left behind.
. "$(dirname "$0")/support.sh"

hold_back
submit cancelled.h5
await_state cancelled.h5
scancel "$job"
await_end CANCELLED 75:0
[ "$(value cancelled.h5 "(s['status'][:] == 2).sum()")" -lt $units ] || fail "it was done before it was cancelled"
let_go
submit cancelled.h5
await_end COMPLETED 0:0
expect_complete cancelled.h5 "scancel, submitted again"

# A rank is killed: the same job starts the ranks again.
jobs=0
hold_back
submit rank.h5
await_state rank.h5
await_moment 'rank=$(ranks node2 | head -n 1); [ -n "$rank" ]'
kill -9 "$rank"
await_moment '[ "$(grep -c ": start " "log.$job")" -ge 2 ]'
let_go
await_end COMPLETED 0:0
expect_complete rank.h5 "killed rank"

# Node 2 dies: its daemon, its steps, its ranks. Slurm is told, as an administrator would, or (long) notices it after a while.
jobs=0
hold_back
submit node.h5
await_state node.h5
touch "$cluster/node2.dead"
# shellcheck disable=SC2046 # numbers
kill -9 "$(cat "$cluster/node2.pid")" $(on_node node2)
[ "${1:-}" = long ] || scontrol update nodename=node2 state=down reason="killed by the test"
await_moment 'grep -q "workers on node1$" "log.$job"' 180
let_go
await_end COMPLETED 0:0
expect_complete node.h5 "node death"
rm "$cluster/node2.dead"
[ "${1:-}" = long ] || scontrol update nodename=node2 state=resume
await '[ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = 2 ]'

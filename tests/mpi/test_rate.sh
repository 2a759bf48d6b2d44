#!/bin/bash
# Long: 64 workers on this machine, trainings of milliseconds: how many records a second go through rank 0, and what one costs it there.
. "$(dirname "$0")/support.sh"
export limit=600
trajectories=2000 records=50
for i in $(seq $trajectories); do echo "1 ok 0 0 $records 400 -"; done >jobs
start 65 jobs
finish
expect_rc 0 "64 workers"
total=$((trajectories * (records + 1)))
[ "$(records)" = $total ] || fail "$(records) records, expected $total"
expect_unique_ends
awk -v n=$total '/^rank 0: / {printf "%d records by 64 workers: %.0f a second, %.1f microseconds of CPU each on rank 0\n", n, n / $3, 1e6 * $5 / n}' log

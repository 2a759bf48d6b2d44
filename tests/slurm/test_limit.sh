#!/bin/bash
# A real time limit: Slurm sends USR1, the job saves its states, queues itself again, and ends with the bits of an undisturbed run.
. "$(dirname "$0")/support.sh"
sed -i 's/^steps = .*/steps = 400000/; s/^check_every.*/check_every = 50000/' sweep.ini
rm -f "$cluster/whole.h5"
submit limit.h5 --signal=B:USR1@60
await_end COMPLETED 0:0 1200

#!/bin/bash
# The whole program on golden.ini: a store that holds against PyTorch's traces.
. "$(dirname "$0")/../program/support.sh"
golden=$BNSWEEP_SOURCE/tests/golden
run 1 "$golden/golden.ini" -o golden.h5 -j 2
expect_rc 0 "golden.ini"
"$python" "$golden/hold_store.py" golden.h5 "$golden/expected.h5" || exit 1

#!/bin/sh
# `bnsweep plan` knows units that will go on from a saved state, and states that a changed sweep leaves unused.
set -eu
bnsweep=${BNSWEEP_BIN:?}/bnsweep
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :; rm -rf "$folder"' EXIT
cp "${BNSWEEP_SOURCE:?}/tests/cli/tiny.ini" "$folder"
cd "$folder"

fail() { echo "$*"; exit 1; }

"$bnsweep" run tiny.ini --set steps=100000000 --set check_every=10000000 --state-every 0.1 >log 2>&1 &
pid=$!
tries=0
until [ -n "$(find tiny.h5.state -name '????????????????????????????????' 2>/dev/null)" ]; do
    kill -0 "$pid" 2>/dev/null || { cat log; fail "the run ended by itself"; }
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || fail "no state was saved"
    sleep 0.1
done

numbers() {
    "$bnsweep" plan tiny.ini --set steps=100000000 --set check_every=10000000 --json "$@" | /usr/bin/python3 -c '
import json, sys
plan = json.load(sys.stdin)
states, train = plan["states"], plan["train"]
print(states["interrupted"], train["trajectories_saved"], train["saved_states_unused"], plan["store"]["writer"] and states["running"])'
}
[ "$(numbers)" = "0 1 0 2" ] || fail "while a run is at it: $(numbers)"
kill -TERM "$pid"
wait "$pid" || :
pid=
# Longest first, then in file order: the first trajectory was under way, two momenta of arm adam.
[ "$(numbers)" = "2 1 0 None" ] || fail "interrupted units, trajectories saved, states unused, running: $(numbers)"
# With another momentum, or each alone, it is another training.
[ "$(numbers --set bn_momentum=0.1,0.2,0.3)" = "0 0 1 None" ] || fail "with a third momentum: $(numbers --set bn_momentum=0.1,0.2,0.3)"
[ "$(numbers --no-fuse)" = "0 0 1 None" ] || fail "without fusing: $(numbers --no-fuse)"
# A state whose store is gone, and what was measured with it, is not gone on from.
mv tiny.h5 elsewhere.h5
[ "$(numbers)" = "0 0 1 None" ] || fail "without the store: $(numbers)"
mv elsewhere.h5 tiny.h5
# Nor one that is damaged.
printf x >>"$(find tiny.h5.state -name '????????????????????????????????')"
[ "$(numbers)" = "0 0 1 None" ] || fail "with a damaged state: $(numbers)"

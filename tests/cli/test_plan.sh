#!/bin/sh
# `bnsweep plan` and `run -n` say what a run would do, in text and JSON alike, and touch nothing.
set -eu
bnsweep=${BNSWEEP_BIN:?}/bnsweep
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
cp "${BNSWEEP_SOURCE:?}/tests/cli/tiny.ini" "$folder/work"
cd "$folder/work"

fail() { echo "$*"; exit 1; }

# Run plan with these arguments, which must end with status $1 and leave folder and store as they were.
plan() {
    wanted=$1
    shift
    before=$(ls -lR --time-style=full-iso)
    status=0
    "$bnsweep" plan "$@" >../out 2>../error || status=$?
    [ "$before" = "$(ls -lR --time-style=full-iso)" ] || fail "plan $* changed the folder"
    [ "$status" = "$wanted" ] || { cat ../out ../error; fail "plan $* ended with status $status, not $wanted"; }
}

has() { grep -q -- "$1" "../$2" || { cat "../$2"; fail "'$1' is not in the $2"; }; }

# What text and JSON say of the same plan is the same, and is what the arguments after the first demand: NAME=VALUE.
agree() {
    arguments=$1
    shift
    # shellcheck disable=SC2086
    plan 0 $arguments
    mv ../out ../text
    # shellcheck disable=SC2086
    plan 0 $arguments --json
    /usr/bin/python3 - ../text ../out "$@" <<'PYTHON'
import json
import re
import sys

text, plan = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
units, states, train = plan["units"], plan["states"], plan["train"]
for state, count in states.items():
    assert sum(unit["state"] == state for unit in units) == count, state
    found = re.search(rf"^ +(\d+)  {state} ", text.split("\ntrain")[0], re.M)
    assert (int(found[1]) if found else 0) == count, (state, text)
assert len(units) == plan["unit_count"] == int(re.search(r"^units +(\d+)$", text, re.M)[1])
assert [unit["unit"] for unit in units] == list(range(len(units)))
assert len({unit["row"] for unit in units}) == len(units)
numbers = {unit["trajectory"] for unit in units} - {None}
assert numbers == set(range(train["trajectories"])) and len(train["seconds"]) == len(numbers)
assert sum(unit["trajectory"] is not None for unit in units) == train["units"]
said = re.search(r"^train +(?:(nothing)|(\d+) units? in (\d+) trajector)", text, re.M)
assert (said[1] and train["units"] == 0) or (int(said[2]), int(said[3])) == (train["units"], train["trajectories"])
if train["units"]:
    assert abs(sum(train["seconds"]) - plan["estimate"]["work_seconds"]) < 1e-6
    assert 0 < plan["estimate"]["seconds"] <= plan["estimate"]["work_seconds"] + 1e-6
assert re.fullmatch(r"fused-(avx512|avx2|neon|baseline)|reference", plan["engine"]) and f'engine "{plan["engine"]}"' in text
assert plan["convolutions"] and set(plan["convolutions"]) <= {"winograd", "direct", "im2row"}, plan["convolutions"]
assert f'"{plan["engine"]}": ' + ", ".join(plan["convolutions"]) + "\n" in text
assert sum(arm["units"] for arm in plan["arms"]) == len(units)
flat = {**states, **train, **{"extra_" + key: value for key, value in plan["store"]["extra"].items()}, "rows": plan["store"]["units"]}
for name, value in (argument.split("=") for argument in sys.argv[3:]):
    assert flat[name] == int(value), (name, flat[name], value)
PYTHON
}

# No store: all is new. Momenta share a trajectory, but not with batchrenorm, and not with --no-fuse.
agree "tiny.ini" new=6 done=0 units=6 trajectories=4 units_fused=4 rows=0
has "norm = batchrenorm" text
agree "tiny.ini --no-fuse" units=6 trajectories=6 units_fused=0
has "2 units have one each: norm = batchrenorm" text
has "4 units have one each: --no-fuse" text
plan 0 tiny.ini -j 3
has "with 3 workers" out
before=$(ls -lR --time-style=full-iso)
dry=$("$bnsweep" run -n tiny.ini -j 2)
long=$("$bnsweep" run --dry-run tiny.ini)
[ "$before" = "$(ls -lR --time-style=full-iso)" ] || fail "run -n changed the folder"
echo "$dry" | grep -q "with 2 workers" || fail "run -n: $dry"
echo "$long" | grep -q "6  new" || fail "run --dry-run: $long"

# What was planned is what is done, and the store becomes as large as was said.
plan 0 tiny.ini --json
"$bnsweep" run tiny.ini >../log 2>&1
has "6 of 6 units to train in 4 trajectories" log
/usr/bin/python3 - ../out tiny.h5 <<'PYTHON'
import json
import os
import sys

said, real = json.load(open(sys.argv[1]))["store"]["bytes_at_end"], os.path.getsize(sys.argv[2])
assert abs(said / real - 1) < 0.1, (said, real)
PYTHON
agree "tiny.ini" new=0 done=6 units=0 trajectories=0 rows=6
agree "tiny.ini -o ./tiny.h5" done=6

# A larger sweep: only what is new, and a new momentum's price; a smaller one: the rest stays.
agree "tiny.ini --set seed=0..1" new=6 done=6 units=6 trajectories=4 trajectories_again=0
agree "tiny.ini --set bn_momentum=0.1,0.2,0.3" new=3 done=6 trajectories=3 trajectories_again=2 units_again=2
has "they are trained again" text
agree "tiny.ini --set bn_momentum=0.1" done=3 new=0 extra_done=3
has "extra" text

# What a run refuses, with its words.
refused() {
    plan 2 tiny.ini "$@"
    plan_says=$(cat ../error)
    has "a run would be refused" out
    run_says=$("$bnsweep" run tiny.ini "$@" 2>&1) && fail "run $* is not refused"
    [ "$plan_says" = "$run_says" ] || fail "plan says: $plan_says; run says: $run_says"
    plan 2 tiny.ini --json "$@"
    /usr/bin/python3 -c 'import json, sys; assert json.load(open("../out"))["store"]["refused"] in open("../error").read()'
}
refused --set check_every=5
has "check_every = 10 in the store, check_every = 5 in this sweep" error
refused --set channels=4-8
refused --set name=other -o tiny.h5
echo "no store" >text.h5
refused -o text.h5
has "no HDF5 file" error
mv tiny.h5 kept.h5
touch tiny.h5.journal
refused
has "its journal" error
rm tiny.h5.journal
mv kept.h5 tiny.h5

# Bad sweep files: the place is named.
sed 's/^steps = 20/steps = twenty/' tiny.ini >bad.ini
plan 2 bad.ini
has "bad.ini:10: \[train\] steps" error
plan 2 missing.ini
plan 2 tiny.ini --set lrr=1
plan 2 tiny.ini --jsno
has "did you mean '--json'" error

#!/bin/sh
# `bnsweep keys` lists every key that a sweep file may have, once, in each of its forms.
set -eu
bnsweep=${BNSWEEP_BIN:?}/bnsweep
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "${BNSWEEP_SOURCE:?}/tests/cli/tiny.ini" "$folder"
cd "$folder"

"$bnsweep" keys >text
"$bnsweep" keys --markdown >markdown
"$bnsweep" keys --json >json
"$bnsweep" keys --variables >variables
"$bnsweep" keys --variables --markdown >variables_markdown
"$bnsweep" keys --variables --json >variables_json
cat >check.py <<'PYTHON'
import json
import re
import subprocess
import sys

program = sys.argv[1]


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


keys = json.load(open("json"))
names = [key["key"] for key in keys]
assert len(names) == len(set(names)) > 40
text, markdown = open("text").read(), open("markdown").read()
assert re.findall(r"^  (\w+)  +\S+  +", text.split("\n[grid]")[0], re.M) == names
assert [row[0] for row in re.findall(r"^\| (\w+) \|(.*)\|$", markdown, re.M) if row[0] != "key"] == names
assert all(line.count("|") - line.count("\\|") == 7 for line in markdown.splitlines() if line.startswith("| "))

# The sweep file knows each key by exactly the name and section that are listed ...
def refusal(section, key):
    with open("one.ini", "w") as file:
        file.write(f"[{section}]\n{key} =\n")
    return run("plan", "one.ini").stderr


nonsense = refusal("train", "lrr")
assert "one.ini:2: [train] lrr" in nonsense and "did you mean" in nonsense, nonsense
for key in keys:
    error = refusal(key["section"], key["key"])
    assert f"one.ini:2: [{key['section']}] {key['key']}" in error and "did you mean" not in error, error
# ... and no other: the derived settings of a store are none.
for other in "file_hash", "init_hash", "arm", "identity":
    assert run("keys", other).returncode == 2
    assert run("plan", "tiny.ini", "--set", f"{other}=1").returncode == 2

# Choices and defaults are those the program takes.
for key in keys:
    one = run("keys", key["key"])
    assert one.returncode == 0 and key["help"] in one.stdout and one.stdout.count("\n") == 3, one
    assert json.loads(run("keys", key["key"], "--json").stdout) == [key]
    for choice in key["choices"]:
        assert choice in key["allowed"]
wrong = run("keys", "lrr")
assert wrong.returncode == 2 and "did you mean 'lr'" in wrong.stderr and not wrong.stdout
assert "[grid]" in text and "[arm NAME]" in text and "[arm NAME]" in markdown

variables = json.load(open("variables_json"))
names = [variable["name"] for variable in variables]
assert len(names) == len(set(names)) and "acc_eval" in names and "lag_trace" in names
assert [line.split()[0] for line in open("variables")] == names
assert re.findall(r"^\| (\w+) \|", open("variables_markdown").read(), re.M)[1:] == names
assert next(v for v in variables if v["name"] == "angle")["axes"] == ["unit", "check", "channel"]
wrong = run("keys", "--variables", "angel")
assert wrong.returncode == 2 and "did you mean 'angle'" in wrong.stderr
PYTHON
/usr/bin/python3 check.py "$bnsweep"

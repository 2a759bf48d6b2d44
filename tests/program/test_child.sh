#!/bin/bash
# A training process that is killed costs one attempt and changes nothing; one that always dies becomes a failed unit, the others go on.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
prepare
begin "$bnsweep" run sweep.ini -o hit.h5
await_training
kill -SEGV "$(children)"
let_go
finish
expect_rc 0 "one training process crashed"
[ "$(value hit.h5 "max(s['attempts'][:])")" = 2 ] || fail "the crash is not counted as an attempt"
expect_same hit.h5 "the second attempt"

# The data file of the last unit changes after the sweep was read: that unit fails with the reason, the others are done.
cp sweep.ini tiny.ini
"$python" - <<'END'
import h5py, numpy as np
with h5py.File("data.h5", "w") as f:
    for part, n in (("train", 40), ("val", 20)):
        f[part + "_x"] = np.random.default_rng(n).standard_normal((n, 3, 8, 8)).astype("f4")
        f[part + "_y"] = (np.arange(n) % 3).astype("i4")
END
cp data.h5 original.h5
cp data.h5 changed.h5
"$python" -c "
import h5py
with h5py.File('changed.h5', 'r+') as f: f['train_x'][0] += 1"
printf '[arm file]\ndata = file\nfile = data.h5\nsteps = 8\noptimizer = adam\nlr = 1e-3\nbn_momentum = 0.1\n' >>tiny.ini
begin "$bnsweep" run tiny.ini -o fail.h5
await_training
cp changed.h5 data.h5
let_go
finish
expect_rc 1 "a unit whose data file changed since"
expect_log "changed"
[ "$(value fail.h5 "s['status'][:].tolist()")" = "[2, 2, 2, 2, 4]" ] || fail "the others must be done, this one failed: $(value fail.h5 "s['status'][:].tolist()")"
value fail.h5 "s['reason'][4].decode()" | grep -q "data.h5" || fail "the store does not say why"
run 1 tiny.ini -o fail.h5
expect_rc 0 "the changed file is other data, so a new unit"
expect_log "1 of 5 units to train"
cp original.h5 data.h5
run 1 tiny.ini -o fail.h5
expect_rc 1 "with the data as it was, the failed unit is asked for again"
expect_log "--retry-failed"
run 1 tiny.ini -o fail.h5 --retry-failed
expect_rc 0 "--retry-failed"
[ "$(value fail.h5 "s['status'][4]")" = 2 ] || fail "the failed unit was not trained again"

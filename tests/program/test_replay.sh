#!/bin/bash
# keep_batch_stats: new momenta are computed from stored batch statistics, to the bit of training them, on any number of ranks and after
# kill -9; where that cannot be, they are trained. Keeping changes no other number, and a store that keeps opens everywhere.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"

# keep [STEPS]: the tiny sweep with more measurements, keeping its batch statistics.
keep() { tiny "${1:-48}" | sed 's/^reest_batches.*/&\nreest = failing\nswap_layer = always\nkeep_batch_stats = yes/'; }
momenta() { sed "s/^bn_momentum.*/bn_momentum = $1/" "$2"; }

# What is kept is the same on any number of ranks, and the rest is what it is without keeping.
keep >tiny.ini
run 1 tiny.ini -o kept.h5
expect_rc 0 "keeping"
sed 's/^keep_batch_stats.*/keep_batch_stats = no/' tiny.ini >without.ini
run 1 without.ini -o without.h5
expect_rc 0 "without keeping"
"$bnsweep" diff kept.h5 without.h5 >log 2>&1 || fail "keeping changed other numbers"
[ "$(value kept.h5 "s['identity'][:].tolist()")" = "$(value without.h5 "s['identity'][:].tolist()")" ] || fail "keeping changed identities"
for ranks in 2 3; do
    run $ranks tiny.ini -o "ranks$ranks.h5"
    expect_rc 0 "keeping on $ranks ranks"
    "$bnsweep" diff kept.h5 "ranks$ranks.h5" >log 2>&1 || fail "$ranks ranks kept other bits"
    grep -q "^batch_mean\|only in" log && fail "$ranks ranks kept something else"
done
[ "$(value kept.h5 "int((~np.isnan(s['batch_mean'][:, 0, 0])).sum())")" = 2 ] || fail "not each trajectory keeps its batches once"
[ "$(value kept.h5 "s['batch_mean'].dtype, s['batch_mean'].shape, s['weights'].shape[:2]")" = "float64 (4, 48, 16) (4, 6)" ] ||
    fail "batch_mean and weights have another shape"
"$bnsweep" verify kept.h5 >log 2>&1 || fail "verify finds something in a store that keeps"

# New momenta, some together with old ones and some alone in the sweep file: replayed, and planned so.
momenta "0.03, 0.1, 0.5" tiny.ini >more.ini
"$bnsweep" plan more.ini -o kept.h5 >log 2>&1 || fail "plan"
expect_log "replay   4 units in 2 trajectories, from batch statistics in the store: not trained"
expect_log "train    nothing"
grep -Eq "batch statistics and weights of 2 trajectories, [0-9.]+ kB each" log || fail "plan does not say how much is kept"
"$bnsweep" plan more.ini -o kept.h5 --json | "$python" -c '
import json, sys
plan = json.load(sys.stdin)
assert plan["states"]["replay"] == 4 and plan["train"]["trajectories_replayed"] == 2 and plan["train"]["units_replayed"] == 4, plan
assert plan["store"]["kept_trajectories"] == 2 and plan["store"]["kept_bytes_each"] > 10000, plan["store"]' || fail "plan --json"
run 1 more.ini -o trained.h5
expect_rc 0 "all momenta trained at once"
for ranks in 1 2 3; do
    cp kept.h5 "more$ranks.h5"
    run $ranks more.ini -o "more$ranks.h5"
    expect_rc 0 "replayed on $ranks ranks"
    expect_log "2 of the trajectories are replayed from stored batch statistics, not trained"
    grep -q "starts anew" log && fail "a replay did not work out"
    "$bnsweep" diff "more$ranks.h5" trained.h5 >log 2>&1
    grep -q "^6 units in both: .* 0 differ" log || fail "a replay on $ranks ranks gave other bits than training"
    "$bnsweep" verify "more$ranks.h5" >log 2>&1 || fail "verify finds something after a replay"
done
cp kept.h5 alone.h5
run 1 more.ini -o alone.h5 --no-fuse
expect_rc 0 "--no-fuse"
grep -q "replayed" log && fail "--no-fuse asks for training"
"$bnsweep" diff alone.h5 more1.h5 >log 2>&1 || fail "training apart gave other bits than replaying"
momenta 0.7 tiny.ini >one.ini
cp more1.h5 one.h5
run 1 one.ini -o one.h5
expect_rc 0 "a sweep file with the new momentum alone"
expect_log "2 of the trajectories are replayed"

# A unit that diverged is a source, too: up to where it did.
sed 's/^lr = .*/lr = 1e-3\nlr_gamma = 1e9\nlr_interval = 12\nschedule = step/' tiny.ini >wild.ini
momenta 0.1 wild.ini >wild1.ini
momenta "0.1, 0.4" wild.ini >wild2.ini
run 1 wild1.ini -o wild.h5
expect_rc 0 "a sweep that diverges"
[ "$(value wild.h5 "3 in s['status'][:] and max(s['steps_done'][s['status'][:] == 3]) > 12")" = True ] || fail "nothing diverged in the middle"
run 1 wild2.ini -o wild.h5
expect_log "2 of the trajectories are replayed"
run 1 wild2.ini -o wild2.h5
"$bnsweep" diff wild.h5 wild2.h5 >log 2>&1 || fail "replaying a diverged trajectory gave other bits"

# Stored weights that are not those of the unit, or averages of weights that would need every step's: trained, and right.
cp kept.h5 wrong.h5
"$python" - wrong.h5 <<'END'
import sys, h5py
with h5py.File(sys.argv[1], "r+") as store:
    store["weights"][:] = store["weights"][:] * 1.001
END
run 2 more.ini -o wrong.h5
expect_rc 0 "weights that do not fit"
[ "$(grep -c "training starts anew: the weights stored at step 8 do not give here" log)" = 2 ] || fail "wrong weights were not noticed"
"$bnsweep" diff wrong.h5 trained.h5 >log 2>&1
[ "$(grep "values differ$" log | cut -d: -f1)" = weights ] || fail "training after a failed replay gave other bits"
sed 's/^keep_batch_stats.*/&\nema = last/' tiny.ini >ema.ini
run 1 ema.ini -o ema.h5
momenta "0.03, 0.1" ema.ini >ema2.ini
run 1 ema2.ini -o ema.h5
expect_rc 0 "ema"
grep -q "replayed" log && fail "averages of weights cannot be replayed"
run 1 ema2.ini -o ema2.h5
"$bnsweep" diff ema.h5 ema2.h5 >log 2>&1
grep -q "units in both: .* 0 differ" log || fail "ema"

# A unit that has kept its first steps only is no source, and verify says what is lost. If it was interrupted, and then replayed from
# another unit, that one has kept all: no fault.
cp kept.h5 partly.h5
"$python" -c 'import h5py; h5py.File("partly.h5", "r+")["batch_mean"][0, 30:] = float("nan")'
"$bnsweep" plan more.ini -o partly.h5 >log 2>&1 || fail "plan"
expect_log "replay   2 units in 1 trajectory, from"
expect_log "train    2 units in 1 trajectory"
"$bnsweep" verify partly.h5 >log 2>&1 && fail "verify does not miss what a trajectory has not kept"
expect_log "row 0 is done, but no unit of its trajectory has kept batch_mean"
"$python" - <<'END'
import h5py
with h5py.File("partly.h5", "r+") as store, h5py.File("kept.h5") as kept:
    hashes = store["weights_hash"][:]
    other = next(i for i in range(1, len(hashes)) if hashes[i] == hashes[0])
    for name in ("batch_mean", "batch_var", "weights"):
        store[name][other] = kept[name][0]
END
"$bnsweep" verify partly.h5 >log 2>&1 || fail "verify takes what an interrupted unit has kept for a fault"

# Another engine's bits are not mixed in.
BNSWEEP_ISA=reference "$bnsweep" plan more.ini -o kept.h5 >log 2>&1 || fail "plan with another engine"
expect_log "replay   nothing: the store was made by the engine"
expect_log "train    4 units in 2 trajectories"

# To keep or not to keep is decided when the store is made.
for pair in "without.h5 tiny.ini" "kept.h5 without.ini"; do
    read -r store ini <<<"$pair"
    cp "$store" before.h5
    run 1 "$ini" -o "$store"
    expect_rc 2 "$pair"
    expect_log "keep_batch_stats = yes"
    cmp "$store" before.h5 || fail "a refused run changed the store"
done

# Stopped and killed while it keeps, then going on on other ranks: nothing missing, nothing else. Killed in a replay: the same.
keep 4000 | sed 's/^check_every.*/check_every = 500/; s/^trace_every.*/trace_every = 50/; s/^swap_layer.*/swap_layer = last/' >long.ini
run 2 long.ini -o undisturbed.h5
expect_rc 0 "undisturbed"
start() { begin "$bnsweep" run "$1" -o "$2" --state-every 0.1; }
for _ in 1 2; do
    start long.ini killed.h5
    await_state killed.h5
    sleep "0.$((RANDOM % 5))"
    kill_sweep
done
start long.ini killed.h5
await_state killed.h5
kill -USR1 $sweep
finish
expect_rc 75 "SIGUSR1"
let_go
run 3 long.ini -o killed.h5
expect_rc 0 "after kill -9"
[ "$(value killed.h5 "max(s['attempts'][:]) > 1")" = True ] || fail "no unit was interrupted"
"$bnsweep" diff undisturbed.h5 killed.h5 >log 2>&1 || fail "kill -9 while keeping and going on gave other bits"
"$bnsweep" verify killed.h5 >log 2>&1 || fail "verify finds a gap in what was kept over a kill -9"
momenta "0.03, 0.01, 0.02, 0.04, 0.05" long.ini >long2.ini
cp killed.h5 replayed.h5
run 1 long2.ini -o replayed.h5
expect_rc 0 "replayed"
for _ in 1 2 3; do
    start long2.ini killed.h5
    await_training
    sleep "0.$((RANDOM % 4 + 1))"
    kill_sweep
done
let_go
run 2 long2.ini -o killed.h5
expect_rc 0 "after kill -9 in a replay"
expect_log "are replayed"
"$bnsweep" diff replayed.h5 killed.h5 >log 2>&1 || fail "kill -9 in a replay gave other bits"
[ ! -e killed.h5.state ] || fail "states were left behind"

# Fresh readers.
if "$python" -c 'import xarray, h5netcdf, netCDF4' 2>/dev/null; then
    "$python" - more1.h5 <<'END' || fail "xarray does not read what is kept"
import sys, warnings
import h5netcdf, netCDF4
import numpy as np
import xarray as xr
warnings.simplefilter("error")
for engine in "h5netcdf", "netcdf4":
    with xr.open_dataset(sys.argv[1], engine=engine) as store:
        mean = store.batch_mean
        assert mean.dims == ("unit", "step", "channel") and mean.dtype == np.float64
        held = mean.isel(step=0, channel=0).notnull()
        assert int(held.sum()) == 2
        # The running mean of any unit follows from the batches of the unit that shares its final weights.
        for unit in range(store.sizes["unit"]):
            source = int(np.flatnonzero(held.values & (store.weights_hash.values == store.weights_hash.values[unit]))[0])
            m, running = float(store.bn_momentum[unit]), np.zeros(store.sizes["channel"], np.float32)
            for batch in mean.isel(unit=source).values:
                running = ((1 - m) * running.astype(np.float64) + m * batch).astype(np.float32)
            assert np.array_equal(running, store.running_mean.isel(unit=unit, check=-1).values), unit
        lines = dict(line.split(" ", 1) for line in store.attrs["parameters"].splitlines())
        place, shape = lines["conv1.weight"].split(" ", 1)
        rows, channels = map(int, shape.strip("[]").split("]["))
        w = store.weights.isel(unit=source, check=-1).values[int(place):int(place) + rows * channels].reshape(rows, channels)
        norm = np.sqrt((w.astype(np.float64) ** 2).sum(0)).astype(np.float32)
        assert np.array_equal(norm, store.norm.isel(unit=source, check=-1).values[:channels])
END
fi
if command -v ncdump >/dev/null; then
    ncdump -h more1.h5 | grep -q "double batch_mean(unit, step, channel)" || fail "ncdump -h"
    ncdump -v weights more1.h5 | grep -q "^ weights =" || fail "ncdump -v"
fi
exit 0

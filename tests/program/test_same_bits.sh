#!/bin/bash
# The same bits at 1, 2, 3 and 5 ranks, started by -j, and with momenta fused or each trained alone.
. "$(dirname "$0")/support.sh"
tiny >tiny.ini
printf '[arm group]\nnorm = group\ngroups = 2\nbn_momentum = 0.1\noptimizer = adamw\nlr = 1e-3\nweight_decay = 0.1\n' >group
sed -i '/^bn_momentum/d' tiny.ini group
sed -i 's/^\[arm .*/&\nbn_momentum = 0.03, 0.3/' tiny.ini
cat group >>tiny.ini
run 1 tiny.ini -o alone.h5
expect_rc 0 "alone"
expect_log "5 of 5 units to train in 3 trajectories"
for ranks in 2 3 5; do
    run $ranks tiny.ini -o "ranks$ranks.h5"
    expect_rc 0 "$ranks ranks"
    "$bnsweep" diff alone.h5 "ranks$ranks.h5" >log 2>&1 || fail "$ranks ranks gave other bits than one"
done
run 1 tiny.ini -o j2.h5 -j 2
expect_rc 0 "-j 2"
"$bnsweep" diff alone.h5 j2.h5 >log 2>&1 || fail "-j 2 gave other bits"
run 1 tiny.ini -o apart.h5 --no-fuse
expect_rc 0 "--no-fuse"
expect_log "5 of 5 units to train in 5 trajectories"
"$bnsweep" diff alone.h5 apart.h5 >log 2>&1 || fail "momenta trained apart gave other bits than fused"
[ "$(value alone.h5 "len(set(s['weights_hash'][:4].tolist()))")" = 2 ] || fail "two momenta must share their weights, two optimizers must not"
"$bnsweep" run tiny.ini -o other.h5 --set seed=7 >log 2>&1
"$bnsweep" diff alone.h5 other.h5 >log 2>&1
rc=$?
expect_rc 3 "another seed must differ"

#!/bin/bash
# Running again does nothing; a larger sweep trains only what is new; a smaller one removes nothing; another one is refused.
. "$(dirname "$0")/support.sh"
tiny >tiny.ini
run 1 tiny.ini
expect_rc 0 "first run"
[ -f tiny.h5 ] || fail "the default store is not the sweep's name"
cp tiny.h5 before.h5
started=$(value tiny.h5 "s['started'][:].tolist()")
run 1 tiny.ini
expect_rc 0 "again"
expect_log "nothing to do"
cmp tiny.h5 before.h5 || fail "a run with nothing to do changed the store"

sed 's/^bn_momentum.*/bn_momentum = 0.03, 0.3, 0.1\nseed = 0, 1/' tiny.ini >more.ini
run 2 more.ini -o tiny.h5
expect_rc 0 "extended"
expect_log "8 of 12 units to train"
[ "$(value tiny.h5 "s['started'][:4].tolist()")" = "$started" ] || fail "units that were done were trained again"
[ "$(value tiny.h5 "(s['status'][:] == 2).sum()")" = 12 ] || fail "not all units are done"
run 1 more.ini -o fresh.h5
expect_rc 0 "all at once"
"$bnsweep" diff tiny.h5 fresh.h5 >log 2>&1 || fail "extending gave other bits than training all at once"

run 1 tiny.ini
expect_rc 0 "the smaller sweep again"
expect_log "nothing to do"
[ "$(value tiny.h5 "s['status'].shape[0]")" = 12 ] || fail "units were removed"

cp tiny.h5 before.h5
for other in "val_size=30" "check_every=4" "channels=6-11"; do
    run 1 tiny.ini --set "$other"
    expect_rc 2 "a store of another shape ($other)"
    expect_log "${other%%=*}"
    cmp tiny.h5 before.h5 || fail "a refused run changed the store ($other)"
done
sed 's/^name.*/name = another/' tiny.ini >another.ini
run 1 another.ini -o tiny.h5
expect_rc 2 "a store of another sweep"
cmp tiny.h5 before.h5 || fail "a refused run changed the store (another sweep)"

#!/bin/bash
# Bad input: a message that names the place, exit status 2, nothing made and nothing harmed.
. "$(dirname "$0")/support.sh"
tiny >tiny.ini

# refused TEXT RUN-ARGUMENT...: exit status 2, TEXT in the output, the folder as it was.
refused() {
    local text=$1
    shift
    find . -not -name log -print0 | sort -z | xargs -0 ls -ld --time-style=full-iso >before
    run 1 "$@"
    [ "$rc" = 2 ] || fail "run $*: exit status $rc, expected 2"
    expect_log "$text"
    find . -not -name log -print0 | sort -z | xargs -0 ls -ld --time-style=full-iso >after
    diff <(grep -v ' \.$\|/after$\|/before$' before) <(grep -v ' \.$\|/after$\|/before$' after) >log || fail "run $* left something behind"
}
refused "missing.ini" missing.ini
refused "-j" tiny.ini -j 0
refused "1024" tiny.ini -j 99999999999999
mkfifo pipe.h5
refused "is no file" tiny.ini -o pipe.h5
rm pipe.h5
refused "--frobnicate" tiny.ini --frobnicate
refused "an argument is missing"
refused "one argument too many" tiny.ini tiny.ini
refused "nowhere" tiny.ini -o nowhere/store.h5
refused "tiny.ini/store.h5" tiny.ini -o tiny.ini/store.h5
refused "learning_rate" tiny.ini --set learning_rate=1
refused "lr" tiny.ini --set lr=fast
echo "not a store" >text.h5
refused "text.h5" tiny.ini -o text.h5
: >empty.h5
refused "empty.h5" tiny.ini -o empty.h5
sed 's/^batch = 8/batch = 8\nbatch = 9/' tiny.ini >twice.ini
refused "twice.ini:12" twice.ini
sed 's/^steps/stepps/' tiny.ini >typo.ini
refused "did you mean" typo.ini
sed 's/^image.*/data = file\nfile = nodata.h5/; s/^classes.*//' tiny.ini >nodata.ini
refused "nodata.h5" nodata.ini
# data.h5 and init.h5 that do not fit: each is known before anything is made.
data() { "$python" -c "
import h5py, numpy as np, sys
n, bad = int(sys.argv[1]), sys.argv[2:]
with h5py.File('data.h5', 'w') as f:
    for part, count in (('train', n), ('val', 20)):
        f[part + '_x'] = np.zeros((count, 3, 8, 8), 'f4')
        f[part + '_y'] = (np.arange(count) % 3).astype('i4')
    if 'nan' in bad: f['val_x'][3, 0, 0, 0] = np.nan
    if 'label' in bad: f['train_y'][5] = -1
    if 'missing' in bad: del f['val_y']
with h5py.File('init.h5', 'w') as f:
    for name, shape in (('conv1.weight', (6, 3, 3, 3)), ('conv2.weight', (10, 6, 3, 3)), ('linear.weight', (3, 10)), ('linear.bias', (3,))):
        f[name] = np.zeros(shape, 'f4')
    if 'init' in bad: f['norm1.running_mean'] = np.zeros(7, 'f4')
" "$@"; }
sed 's/nodata.h5/data.h5/; s/^channels.*/&\ninit = init.h5/' nodata.ini >data.ini
data 40 nan
refused "val_x" data.ini
data 40 label
refused "train_y" data.ini
data 40 missing
refused "val_y" data.ini
data 5
refused "do not fill one batch of 8" data.ini
data 40 init
refused "norm1.running_mean" data.ini
data 40
refused "val_size = 21" data.ini --set val_size=21
run 1 data.ini -o data.store.h5
expect_rc 0 "files that fit"
rm -rf data.store.h5*
"$python" -c "
import h5py, numpy as np
with h5py.File('foreign.h5', 'w') as f: f['x'] = np.zeros(3)"
refused "foreign.h5" tiny.ini -o foreign.h5
run 1 tiny.ini
expect_rc 0 "a good run"
head -c 20000 tiny.h5 >cut.h5
run 1 tiny.ini -o cut.h5
[ "$rc" = 2 ] || [ "$rc" = 1 ] || fail "a truncated store: exit status $rc"
[ "$(stat -c %s cut.h5)" = 20000 ] || fail "the truncated store was touched"
SLURM_NTASKS=4 run 1 tiny.ini -o slurm.h5
expect_rc 2 "several Slurm tasks, each a world of its own"
expect_log "--mpi=pmix"
[ ! -e slurm.h5 ] || fail "a refused run made a store"
timeout 100 mpirun -q --oversubscribe --bind-to none -n 3 "$bnsweep" run missing.ini >log 2>&1
rc=$?
expect_rc 2 "a bad file on three ranks"

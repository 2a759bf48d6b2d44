#!/bin/bash
# Every engine trains the whole network; with fused multiply-add, AVX2 and AVX-512 give the same bits.
. "$(dirname "$0")/support.sh"
has() { grep -qw "$1" /proc/cpuinfo; }
engines="reference baseline"
has avx2 && has fma && engines="$engines avx2"
has avx512vl && has avx512dq && engines="$engines avx512"
[ "$(uname -m)" = aarch64 ] && engines="$engines neon"
# Direct convolutions, Winograd's, and channels that are padded.
for geometry in "9 16-32" "16 16-32-32" "12 5-20-33"; do
    read -r image channels <<<"$geometry"
    tiny 16 | sed "s/^channels.*/channels = $channels/; s/^image.*/image = $image/" >tiny.ini
    for engine in $engines; do
        BNSWEEP_ISA=$engine run 1 tiny.ini -o "$engine-$image.h5"
        expect_rc 0 "$engine"
        value "$engine-$image.h5" "s.attrs['engine']" | grep -q "$engine" || fail "the store does not name the engine $engine"
        # The same training to rounding: the first check comes after 8 steps.
        near=$("$python" -c "
import h5py, numpy as np, sys
a, b = (h5py.File(p, 'r')['val_loss_train'][:, 0] for p in sys.argv[1:])
print(np.abs(a - b).max() < 1e-3)" "reference-$image.h5" "$engine-$image.h5")
        [ "$near" = True ] || fail "$engine trains another network than the reference"
    done
    if [ -f "avx512-$image.h5" ]; then
        "$bnsweep" diff "avx2-$image.h5" "avx512-$image.h5" >log 2>&1 || fail "AVX2 and AVX-512 give other bits"
        echo "image $image, channels $channels: avx2 and avx512 give the same bits"
    fi
done
BNSWEEP_ISA=avx9 run 1 tiny.ini -o never.h5
expect_rc 2 "an unknown engine"
expect_log "avx9"
[ ! -e never.h5 ] || fail "a refused run made a store"

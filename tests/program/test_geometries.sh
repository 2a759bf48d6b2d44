#!/bin/bash
# Other channel counts, image sizes, class counts, batches, norms and measurements work the same way.
. "$(dirname "$0")/support.sh"
tiny 16 >tiny.ini
sed -i '/^channels/d; /^image/d; /^classes/d; /^batch/d' tiny.ini
check() {
    rm -f store.h5*
    local sets=() set
    for set in "$@"; do sets+=(--set "$set"); done
    run 1 tiny.ini -o store.h5 "${sets[@]}"
    expect_rc 0 "$*"
    [ "$(value store.h5 "((s['status'][:] == 2) & np.isfinite(s['val_loss_eval'][:]).all(1)).all()")" = True ] || fail "$*: not all is measured"
}
check channels=1 image=2 classes=2 batch=3
check channels=3-5-7 image=9 classes=11 batch=5 image_channels=1
check channels=17-33 image=13 classes=3 batch=7 image_channels=4 conv_bias=yes
check channels=4-4-4-4 image=16 classes=3 batch=2
check channels=4-8 image=8 classes=3 batch=8 reest=always reest_batches=1,2,5 swap_layer=always swap_top=always ema=always ema_decays=0.5,0.9
sed -i "s/^reest_batches.*/trace_every = 0/; s/^trace_every = 4/reest = never/" tiny.ini
check channels=4-8 image=8 classes=3 batch=8
check channels=4-8 image=8 classes=3 batch=8 freeze=conv1 freeze_stats=held freeze_from=6
check channels=4-8 image=8 classes=3 batch=8 schedule=one-cycle warmup=3 radial=project
sed -i 's/^bn_momentum.*/norm = batchrenorm\nrenorm_warmup = 4\nrenorm_rmax_step = 8\nrenorm_dmax_step = 8/' tiny.ini
sed -i 's/^norm = .*//; s/^renorm.*//; s/^\[network\]/[network]\nnorm = batchrenorm\nrenorm_warmup = 4\nrenorm_rmax_step = 8\nrenorm_dmax_step = 8/' tiny.ini
check channels=4-8 image=8 classes=3 batch=8

#!/usr/bin/python3
"""Hold a store of golden.ini against PyTorch's traces.

usage: hold_store.py STORE.h5 EXPECTED.h5
Each quantity of each arm: the root-mean-square distance from PyTorch's float64 trace, over checks and channels, is at most 4 times
that of PyTorch's own float32 trace (plus 2e-6 of the quantity's scale, which rounding to the store's float32 alone may take).
"""
import sys

import h5py
import numpy as np

FACTOR, FLOOR = 4.0, 2e-6


def rms(a):
    return float(np.sqrt(np.mean(np.square(a))))


def expected_of(arm, quantity, checks):
    """The float32 and the float64 trace; the loss of each step becomes the mean of each window."""
    traces = [arm[precision][quantity][()].astype("f8") for precision in ("float32", "float64")]
    return [t.reshape(checks, -1).mean(1) for t in traces] if quantity == "loss" else traces


def hold_arm(name, store, row, arm):
    rows = bad = 0
    checks = store["check"].shape[0]
    for quantity in arm["float64"]:
        if quantity == "lr":
            continue
        got = store[quantity][row].astype("f8")
        f32, f64 = expected_of(arm, quantity, checks)
        ours, theirs, scale = rms(got - f64), rms(f32 - f64), max(rms(f64), 1.0)
        rows += 1
        if not ours <= FACTOR * theirs + FLOOR * scale:
            bad += 1
            print(f"{name:12s} {quantity:15s} distance {ours:.3g}, PyTorch float32's {theirs:.3g}")
    return rows, bad


def main(store_path, expected_path):
    rows = bad = 0
    with h5py.File(store_path, "r") as store, h5py.File(expected_path, "r") as expected:
        arms = [a.decode() for a in store["arm"][()]]
        assert sorted(arms) == sorted(expected), f"arms {arms}"
        for name in expected:
            more, worse = hold_arm(name, store, arms.index(name), expected[name])
            rows, bad = rows + more, bad + worse
    print(f"{rows - bad} of {rows} rows hold")
    return 1 if bad or rows < 120 else 0


sys.exit(main(*sys.argv[1:3]))

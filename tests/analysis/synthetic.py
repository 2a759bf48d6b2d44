#!/usr/bin/python3
"""Make a large store in seconds: a small real sweep's store whose rows are repeated with new seeds, identities and some noise.

usage: synthetic.py UNITS OUT.h5 [--checks N] [--channels 32-64-64] [--trace]
The program that trains the small sweep is BNSWEEP_BIN/bnsweep. 10,000 units of 41 checks and 160 channels are 2.6 GB. The layout is
the program's own; the numbers mean nothing. Every unit is done.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

SWEEP = """\
[sweep]
name = synthetic
[task]
image = 4
[network]
channels = {channels}
[train]
steps = {steps}
batch = 4
bn_momentum = 0.01, 0.03, 0.1, 0.3, 1
[measure]
first_check = 10
check_every = 10
angle_window = 10
val_size = 32
trace_every = {trace_every}
reest_batches = 5
[arm sgd]
optimizer = sgd
lr = 0.05
momentum = 0.9
[arm adam_slow]
optimizer = adam
lr = 3e-4
[arm adam]
optimizer = adam
lr = 3e-3
[arm adam_cosine]
optimizer = adam
lr = 3e-3
schedule = cosine
[arm adamw]
optimizer = adamw
lr = 3e-3
weight_decay = 0.05
[arm adam_projected]
optimizer = adam
lr = 3e-3
radial = project
"""
BLOCK = 64  # rows written together


def train(folder: Path, out: Path, checks: int, channels: str, trace: bool) -> None:
    """Train the small sweep into the store `out`: 30 units."""
    ini = folder / "synthetic.ini"
    ini.write_text(SWEEP.format(channels=channels, steps=10 * checks, trace_every=10 if trace else 0))
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run([Path(os.environ["BNSWEEP_BIN"]) / "bnsweep", "run", ini, "-o", out], check=True, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def repeat(out: Path, units: int) -> None:
    """Repeat the rows of the store `out`, in place, until it has `units`."""
    with h5py.File(out, "r+") as file:
        first = file["unit"].shape[0]
        for dataset in file.values():
            if dataset.maxshape[0] is None:
                base = dataset[:]
                dataset.resize(units, 0)
                fill(dataset, base, first)
        file["unit"][:] = np.arange(units)


def fill(dataset: h5py.Dataset, base: np.ndarray, first: int) -> None:
    """Write the rows behind the `first` ones, each like the row `first` above it."""
    name, units = dataset.name[1:], dataset.shape[0]
    random = np.random.default_rng(sum(name.encode()))
    noise = random.normal(1, 0.05, (97, *base.shape[1:])).astype(np.float32)  # more would only take time
    for start in range(first, units, BLOCK):
        rows = np.arange(start, min(start + BLOCK, units))
        values = base[rows % first]
        if name == "seed":
            values = rows // first
        elif name == "identity":
            values = np.array([f"{row:032x}" for row in rows], object)
        elif base.ndim > 1:
            values = values * noise[rows % len(noise)]
            if name.startswith("acc_"):
                values = np.clip(values, 0, 1)
        dataset[rows[0] : rows[-1] + 1] = values


def make(out: Path, units: int, checks: int = 41, channels: str = "32-64-64", trace: bool = False) -> None:
    """Make the store `out`."""
    with tempfile.TemporaryDirectory() as folder:
        train(Path(folder), out, checks, channels, trace)
    repeat(out, units)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("units", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--checks", type=int, default=41)
    parser.add_argument("--channels", default="32-64-64")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    make(options.out, options.units, options.checks, options.channels, options.trace)
    return 0


if __name__ == "__main__":
    sys.exit(main())

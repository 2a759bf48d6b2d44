"""What the tests of analysis/ share: a tiny sweep with every switch on, the program, ways to change a store."""

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(os.environ["BNSWEEP_SOURCE"])
ANALYSIS = SOURCE / "analysis"
try:
    import h5py
    import matplotlib  # noqa: F401
    import numpy as np
    import pytest
    import xarray  # noqa: F401
except ImportError as missing:
    print(f"{missing}: skipped")
    sys.exit(77)
sys.path.insert(0, str(ANALYSIS))

PROGRAM = Path(os.environ["BNSWEEP_BIN"]) / "bnsweep"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

HEAD = """\
[sweep]
name = tiny
[task]
image = 8
classes = 4
[measure]
first_check = 10
check_every = 10
angle_window = 5
val_size = 16
"""
SWITCHES = """\
trace_every = 5
reest = always
reest_batches = 2, 3
swap_layer = always
swap_top = always
ema = always
ema_decays = 0.5, 0.9
"""
OFF = "trace_every = 0\nreest = never\n"
ARMS = """\
[network]
channels = 4-6
[train]
steps = 30
batch = 8
[grid]
seed = 0..1
[arm sgd]
optimizer = sgd
lr = 0.05
momentum = 0.9
bn_momentum = 0.03, 0.3
[arm adam]
optimizer = adam
lr = 3e-3
schedule = cosine
bn_momentum = 0.03, 0.3
[arm grouped]
optimizer = adam
lr = 3e-3
norm = group
groups = 2
"""
TINY = HEAD + SWITCHES + ARMS  # 10 units, 3 checks, 6 samples, 10 channels


def bnsweep(*arguments):
    """Run the program and return what it printed."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    assert done.returncode == 0, f"{arguments}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def train(ini, path):
    """Train a sweep file's text into a store and return its path."""
    file = path.with_suffix(".ini")
    file.write_text(ini)
    bnsweep("run", file, "-o", path)
    return path


def rows(text):
    """Rows of CSV text."""
    return list(csv.DictReader(io.StringIO(text)))


def changed(store, path, **changes):
    """Copy the store to `path` and change variables: name=function(dataset)."""
    shutil.copyfile(store, path)
    with h5py.File(path, "r+") as file:
        for name, change in changes.items():
            change(file[name])
    return path


def put(index, value):
    """A change: dataset[index] = value."""

    def change(dataset):
        dataset[index] = value

    return change


def half_done(store, path):
    """A copy as it would be in mid-run: units diverged after the second check, running after the first, pending, failed."""
    states = {0: 3, 1: 1, 2: 0, 3: 4}
    shutil.copyfile(store, path)
    with h5py.File(path, "r+") as file:
        for unit, state in states.items():
            file["status"][unit] = state
            for dataset in file.values():
                axis = dataset.dims[1].keys() if dataset.ndim > 1 else []
                if "check" in axis or "sample" in axis:
                    dataset[unit, {3: 2, 1: 1, 0: 0, 4: 0}[state]:] = np.nan
            if state == 0:
                file["norm_init"][unit] = np.nan
    return path


def main(file):
    """Run this file's tests and end."""
    sys.exit(pytest.main([file, "-q", "-p", "no:cacheprovider", "-W", "error"]))

"""What the tests of the report share: a small sweep's store, copies of it with numbers put in, and report.py on them."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
import h5py
import numpy as np

SOURCE = Path(os.environ["BNSWEEP_SOURCE"])
PROGRAM = Path(os.environ["BNSWEEP_BIN"]) / "bnsweep"
REPORT = SOURCE / "analysis" / "report.py"
CHART_JS = Path("/usr/share/javascript/chart.js/chart.min.js")
sys.path[:0] = [str(SOURCE / "analysis"), str(SOURCE / "tests" / "analysis")]
import report as program

INI = """\
[sweep]
name = small
[task]
image = 4
classes = 4
[network]
channels = 4-6
[train]
steps = 40
batch = 4
[measure]
first_check = 10
check_every = 10
angle_window = 10
val_size = 16
trace_every = 0
reest_batches = 2, 3
[grid]
seed = 0, 1
{more}
[arm sgd]
optimizer = sgd
lr = 0.05
[arm adam]
optimizer = adam
lr = 3e-3
"""
BATCH = "bn_momentum = 0.03, 0.3"  # units 0 .. 7: sgd 0.03, 0.03, 0.3, 0.3, then adam
GROUP = "norm = group\ngroups = 2"  # units 0 .. 3


def train(folder, name, more):
    """Train the small sweep; return its store's path."""
    ini, store = Path(folder) / f"{name}.ini", Path(folder) / f"{name}.h5"
    ini.write_text(INI.format(more=more))
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run([PROGRAM, "run", ini, "-o", store], check=True, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300)
    return store


def report(*arguments, rc=0):
    """Run report.py's main here, demand its exit status, return its two outputs."""
    out, error = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", ["report.py", *map(str, arguments)]), contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        status = program.main()
    if status != rc:
        raise AssertionError(f"{arguments}: exit status {status}, expected {rc}\n{out.getvalue()}\n{error.getvalue()}")
    return out.getvalue(), error.getvalue()


def healthy(file):
    """Put in numbers of a sweep that trained well and keeps up."""
    file["acc_train"][:] = 1
    file["acc_eval"][:] = 0.99
    file["acc_reest"][:, -1] = 1
    for name in ("mean_lag", "drift"):
        if name in file and not np.isnan(file[name][:]).all():
            file[name][:] = 0.01


def stale(file, units, check=slice(None)):
    """Put a gap and a lag of channel 5 (conv2, its channel 1) into some checks of some units."""
    for unit in units:
        accuracy, lag = file["acc_eval"][unit], file["mean_lag"][unit]
        accuracy[check] = 0.25
        lag[check, 5] = -1.5
        file["acc_eval"][unit], file["mean_lag"][unit] = accuracy, lag


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.batch = train(cls.folder, "batch", BATCH)

    @classmethod
    def copy(cls, name, change, base=None):
        """Copy the small sweep's store and let `change` put numbers into it."""
        path = cls.folder / f"{name}.h5"
        shutil.copy(base or cls.batch, path)
        with h5py.File(path, "r+") as file:
            healthy(file)
            change(file)
        return path

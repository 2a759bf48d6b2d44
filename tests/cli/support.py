"""What the tests of the reading commands share: a tiny sweep, its store, and the program."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
try:
    import h5py
    import numpy as np
except ImportError:
    print("no h5py: skipped")
    sys.exit(77)

PROGRAM = os.path.join(os.environ["BNSWEEP_BIN"], "bnsweep")
PACE_SHIM = os.path.join(os.environ["BNSWEEP_BIN"], "..", "tests", "support", "pace_shim.so")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

BASE = """\
[sweep]
name = tiny
[task]
image = 8
classes = 4
[network]
channels = 4-4
[measure]
first_check = 10
check_every = 10
angle_window = 5
val_size = 16
trace_every = 5
reest_batches = 2,3
reest = last
[train]
batch = 8
"""

TINY = BASE + """\
steps = 20
[grid]
bn_momentum = 0.03, 0.3
seed = 0..1
[arm adam]
optimizer = adam
lr = 3e-3
[arm sgd]
optimizer = sgd
lr = 0.05
momentum = 0.9
"""


def bnsweep(*arguments, rc=0, **options):
    """Run the program, demand its exit status, and return what it printed; `error` holds standard error."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=ENVIRONMENT, timeout=300, **options)
    if done.returncode != rc:
        raise AssertionError(f"{arguments}: exit status {done.returncode}, expected {rc}\n{done.stdout}\n{done.stderr}")
    output = Output(done.stdout)
    output.error = done.stderr
    return output


class Output(str):
    error = ""


class StoreTest(unittest.TestCase):
    """A class with one store, trained once, and a folder that vanishes."""

    ini = TINY

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.store = cls.path("tiny.h5")
        cls.ran = cls.train(cls.ini, cls.store)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def train(cls, ini, store, *arguments, rc=0):
        with open(cls.path("sweep.ini"), "w") as file:
            file.write(ini)
        return bnsweep("run", cls.path("sweep.ini"), "-o", store, *arguments, rc=rc)

    def copy(self, **changes):
        """Copy the store and change it: name=function(dataset)."""
        path = self.path("copy.h5")
        shutil.copyfile(self.store, path)
        with h5py.File(path, "r+") as file:
            for name, change in changes.items():
                change(file[name])
        return path

    def rows(self, **settings):
        """The rows with these settings."""
        with h5py.File(self.store) as file:
            match = np.ones(file["unit"].shape, bool)
            for key, value in settings.items():
                column = file[key].asstr()[:] if h5py.check_string_dtype(file[key].dtype) else file[key][:]
                match &= column == value
        return np.flatnonzero(match)


def put(index, value):
    """A change: dataset[index] = value."""

    def change(dataset):
        dataset[index] = value

    return change


def move(source, target):
    """A change: one unit's values over another's."""

    def change(dataset):
        dataset[target] = dataset[source]

    return change

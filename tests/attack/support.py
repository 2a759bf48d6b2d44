"""For the tests of this folder: the built program on tiny sweeps, its processes, and what its files hold."""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

BIN = Path(os.environ["BNSWEEP_BIN"])
BNSWEEP = BIN / "bnsweep"
SUPPORT = BIN.parent / "tests/support"
CRASH, CLOCK, PACE = (str(SUPPORT / f"{name}_shim.so") for name in ("crash", "clock", "pace"))
INI = (Path(os.environ["BNSWEEP_SOURCE"]) / "tests/support/tiny.ini").read_text()
LONG = "long" in sys.argv[1:]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl="self,vader", LC_ALL="C.UTF-8")

UNITS = 4


def check(condition, text):
    if not condition:
        print("FAILED:", text, flush=True)
        sys.exit(1)


def seed_from_arguments():
    """`seed=N` on the command line; else the time in the long form, 1 in the short one. Printed."""
    given = [int(word[5:]) for word in sys.argv[1:] if word.startswith("seed=")]
    seed = given[0] if given else int(time.time()) if LONG else 1
    print(f"seed={seed}", flush=True)
    return random.Random(seed)


class Place:
    """A folder that goes when the test ends, with a sweep in it and the store of an undisturbed run."""

    def __init__(self, steps, every, trace, name="bnsweep-attack-"):
        self.folder = Path(tempfile.mkdtemp(prefix=name))
        self.ini = self.folder / "tiny.ini"
        self.text = INI
        for key, value in (("steps", steps), ("first_check", every), ("check_every", every), ("trace_every", trace)):
            self.text = re.sub(f"(?m)^{key} = .*$", f"{key} = {value}", self.text)
        self.whole = self.folder / "undisturbed.h5"
        self.held = self.folder / "held"
        self.write_ini()

    def write_ini(self):
        self.ini.write_text(self.text)

    def hold_back(self, microseconds):
        """The environment of a run whose training takes at least so long a step until let_go(). On no machine is it over before."""
        self.held.touch()
        return {"LD_PRELOAD": PACE, "PACE_WHILE": str(self.held), "PACE_US": str(microseconds)}

    def let_go(self):
        self.held.unlink()

    def make_whole(self):
        check(run(self.ini, self.whole).returncode == 0, "the undisturbed run")

    def is_whole(self, store):
        """Bit for bit as undisturbed, sound, each unit there once, nothing beside it."""
        found = call("diff", self.whole, store)
        check(found.returncode == 0, f"{store} is not as undisturbed:\n{found.stdout}{found.stderr}")
        found = call("verify", store)
        check(found.returncode == 0, f"verify {store}:\n{found.stdout}{found.stderr}")
        with h5py.File(store) as file:
            identities = file["identity"][:].tolist()
            check(len(identities) == len(set(identities)) == UNITS, f"{store} has a unit twice, or lacks one")
        beside = [name for name in os.listdir(Path(store).parent) if name.startswith(Path(store).name) and name != Path(store).name]
        check(not beside, f"left beside {store}: {beside}")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def call(*arguments, timeout=120, environment=None, **more):
    return subprocess.run([str(BNSWEEP), *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(environment or {})}, **more)


def run(ini, store, *more, **others):
    return call("run", ini, "-o", store, *more, **others)


class Calls:
    """Runs in which the `at`-th call that changes a file ends its process or fails, as tests/support/crash_shim.c does it. All of them
    take half a millisecond a step or more, so that a run makes about as many calls, those of its states included, on any machine."""
    KINDS = ["write", "pwrite", "copy_file_range", "rename", "unlink", "ftruncate", "fallocate", "fsync", "fdatasync"]

    def __init__(self, place, *options):
        self.place, self.options, self.counter = place, options, place.folder / "counter"

    def run(self, store, at, how, only=""):
        """`only`: the kind of calls among which `at` counts."""
        self.counter.write_bytes(bytes(4096))
        return run(self.place.ini, store, *self.options, environment={
            "LD_PRELOAD": f"{CRASH}:{PACE}", "PACE_WHILE": str(self.place.ini), "PACE_US": "500", "CRASH_COUNTER": str(self.counter),
            "CRASH_BELOW": str(store.parent.resolve()), "CRASH_AT": str(at), "CRASH_HOW": str(how), "CRASH_FOR": "0",
            "CRASH_ONLY": only})

    def counts(self):
        """Of the last run: calls in all, of each kind, and the kind of the call that ended a process (None: it did not come to it)."""
        numbers = struct.unpack_from(f"<{len(self.KINDS) + 2}I", self.counter.read_bytes())
        return numbers[0], dict(zip(self.KINDS, numbers[1:])), self.KINDS[numbers[-1] - 1] if numbers[-1] else None

    def of_a_run(self):
        """The calls of a run that nothing happens to, and of each kind."""
        home = self.place.folder / "counted"
        home.mkdir()
        check(self.run(home / "s.h5", 0, "none").returncode == 0, "a run whose calls are counted")
        calls, kinds, _ = self.counts()
        check(kinds["write"] > 0 and kinds["fdatasync"] > 0, f"no states or no commits among the calls: {kinds}")
        return calls, kinds


class Job:
    """A run in the background, at some number of ranks, whose processes can be told from all others."""
    count = deadlocks = 0

    def __init__(self, ini, store, ranks, *more, environment=None):
        Job.count += 1
        self.token = f"{os.getpid()}.{Job.count}"
        self.ranks = ranks
        self.log = tempfile.TemporaryFile("w+")
        launcher = ["mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        self.process = subprocess.Popen(
            [*launcher, str(BNSWEEP), "run", str(ini), "-o", str(store), *more], stdout=self.log, stderr=self.log,
            start_new_session=True, env={**os.environ, **(environment or {}), "BNSWEEP_ATTACK": self.token})

    def processes(self):
        """[(kind, pid)] of what lives: mpirun, rank0, worker, child, publisher."""
        found, mark = [], f"BNSWEEP_ATTACK={self.token}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark not in environment or not words[0]:
                continue
            task = words[1] if len(words) > 1 else b""
            if b"OMPI_COMM_WORLD_RANK=0" in environment or self.ranks == 1:
                rank = "rank0"
            else:
                rank = "worker"
            kind = {b"train": "child", b"publish": "publisher", b"run": rank}.get(task, "mpirun")
            found.append((kind, int(pid)))
        return found

    def kill(self, kind):
        """kill -9 one process of that kind, or `all`; return what was killed."""
        killed = 0
        while True:  # `all`: again, for what was just being started
            there = [pid for k, pid in self.processes() if kind in (k, "all")]
            for pid in there if kind == "all" else there[:1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
            if kind != "all" or not there:
                return killed > 0

    def ended(self):
        return self.process.poll() is not None

    def await_moment(self, condition, what, seconds=60):
        """Wait for it while the run goes on."""
        until = time.monotonic() + seconds
        while not condition():
            check(not self.ended() or condition(), f"the run ended before {what}:\n{self.output()}")
            check(time.monotonic() < until, f"the run goes on, but for {seconds} s not {what}:\n{self.output()}")
            time.sleep(0.02)

    def await_records(self, store, least=1):
        self.await_moment(lambda: len(recorded(store)) >= least, f"there were {least} records in {store}")

    def wait(self, seconds=120):
        """Wait for the end. Open MPI 4.1.4's mpirun sometimes never ends after its ranks were killed (a deadlock of its own, in
        PMIx_server_finalize): where it alone is left for long, it is killed and counted in Job.deadlocks."""
        start = alone_since = time.monotonic()
        while not self.ended():
            time.sleep(0.05)
            now = time.monotonic()
            if any(kind != "mpirun" for kind, _ in self.processes()):
                alone_since = now
            if now - alone_since > seconds / 4 and self.ranks > 1:
                Job.deadlocks += 1
                self.kill("all")
            elif now - start > seconds:
                self.kill("all")
                check(False, f"the run hangs:\n{self.output()}")
        left = time.monotonic() + 10
        while self.processes() and time.monotonic() < left:
            time.sleep(0.02)
        check(not self.processes(), f"left behind after 10 s: {self.processes()}")
        return self.process.returncode

    def output(self):
        return os.pread(self.log.fileno(), 1 << 24, 0).decode(errors="replace")  # the run writes where the file's offset is


def recorded(store):
    """What a store and its journal hold: {(row, group, index)} of records and {(row, "end")}. Reads the journal by itself."""
    found = set()
    if os.path.exists(store):
        with h5py.File(store) as file:
            for row, state in enumerate(file["status"][:]):
                if state in (2, 3):
                    found.add((row, "end"))
            for name, group in (("lr_applied", "check"), ("lag_trace", "trace")):
                values = file[name][:]
                there = ~np.isnan(values.reshape(*values.shape[:2], -1)).all(axis=2)
                found |= {(int(row), group, int(index)) for row, index in zip(*np.nonzero(there))}
    journal = f"{store}.journal"
    if not os.path.exists(journal):
        return found
    data, at = Path(journal).read_bytes(), 48
    while at + 28 <= len(data):
        size = struct.unpack_from("<I", data, at)[0]
        if size == 0 or at + 28 + size > len(data):
            break
        kind, row = struct.unpack_from("<BQ", data, at + 28)
        if kind == 1:
            record, group, index = struct.unpack_from("<BBI", data, at + 28 + 9 + 12)
            if record == 2:
                found.add((row, "end"))
            elif group in (0, 1, 2):
                found.add((row, {0: "unit", 1: "check", 2: "trace"}[group], index))
        at += 28 + size
    return {what for what in found if what[1] != "unit"}

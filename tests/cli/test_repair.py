#!/usr/bin/python3
"""bnsweep repair of a journal that lost what was kept for replays: the trajectory is trained again, and keeps it."""

import signal
import struct
import time

from support import BASE, ENVIRONMENT, PROGRAM, StoreTest, bnsweep, h5py, np, os, subprocess, unittest

HEADER, HEAD, RECORD = 48, 28, 21  # of the journal, of an entry, of what stands before a record in it
STEPS = 3                          # GROUP_STEP

KEEPING = BASE + """\
steps = 20
optimizer = adam
lr = 3e-3
[grid]
seed = 0..399
bn_momentum = 0.03, 0.3
"""
KEEPING = KEEPING.replace("[train]", "keep_batch_stats = yes\n[train]")
FIRST = ["--set", "seed=0"]


def entries(journal):
    """(where it begins, the number of its commit, its payload) of each entry."""
    at = HEADER
    while at + HEAD <= len(journal):
        size, _, commit = struct.unpack_from("<IQQ", journal, at)
        yield at, commit, journal[at + HEAD:at + HEAD + size]
        at += HEAD + size


def kept_steps(journal):
    """Where the batch statistics of seed 0 are, and whether its units' ends and a later commit are behind them."""
    places, ends, first, last = [], 0, 0, 0
    for at, commit, payload in entries(journal):
        if len(payload) < RECORD + 2:
            break
        last = commit
        kind, row = struct.unpack_from("<BQ", payload)
        if kind != 1 or row > 1:
            continue
        if payload[RECORD] == 1 and payload[RECORD + 1] == STEPS:
            places.append(at)
            first = first or commit
        ends += payload[RECORD] == 2
    return places, ends == 2 and last > first


class Repair(StoreTest):
    ini = KEEPING

    @classmethod
    def train(cls, ini, store, *arguments, rc=0):
        return super().train(ini, store, *FIRST, *arguments, rc=rc)

    def killed(self, store):
        """Run until the first units' ends are in the journal, and kill it then; return what of the journal is whole."""
        for _ in range(5):
            run = subprocess.Popen([PROGRAM, "run", self.path("sweep.ini"), "-o", store], env=ENVIRONMENT, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            journal, done = b"", False
            while run.poll() is None and not done:
                time.sleep(0.02)
                if os.path.exists(store + ".journal"):
                    with open(store + ".journal", "rb") as file:
                        journal = file.read()
                    places, done = kept_steps(journal)
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            if os.path.exists(store + ".journal"):
                with open(store + ".journal", "rb") as file:
                    journal = file.read()
                places, done = kept_steps(journal)
                if done and places:
                    return journal, places
            os.unlink(store)  # it was published first, or all was done
        self.fail("the journal never had the first trajectory")

    def kept(self, store):
        with h5py.File(store) as file:
            return {name: file[name][:2].tobytes() for name in ("batch_mean", "batch_var", "weights", "loss", "lag_trace")}

    def test_lost_steps(self):
        store = self.path("killed.h5")
        journal, places = self.killed(store)
        changed = bytearray(journal)
        changed[places[0] + HEAD + RECORD + 12] ^= 1
        with open(store + ".journal", "wb") as file:
            file.write(changed)
        self.assertIn("bnsweep repair", bnsweep("run", self.path("sweep.ini"), "-o", store, *FIRST, rc=1).error)
        self.assertIn("1 units had ended but lack records, or what was to be kept", bnsweep("repair", store))
        with h5py.File(store) as file:
            self.assertEqual(list(file["status"][:2]), [0, 2])
            self.assertTrue(np.isnan(file["batch_mean"][0, 0]).all())
        bnsweep("verify", store)
        bnsweep("run", self.path("sweep.ini"), "-o", store, *FIRST)
        self.assertEqual(self.kept(store), self.kept(self.store))
        more = bnsweep("plan", self.path("sweep.ini"), "-o", store, *FIRST, "--set", "bn_momentum=0.01")
        self.assertRegex(more, "replay")
        bnsweep("verify", store)

    def test_nothing_kept(self):
        """Taken out of a store: verify says so, a run with a new momentum trains, and then all is well."""
        def forget(dataset):
            dataset[:] = np.nan

        store = self.copy(batch_mean=forget, batch_var=forget, weights=forget)
        self.assertIn("no unit of its trajectory has kept batch_mean", bnsweep("verify", store, rc=3))
        bnsweep("run", self.path("sweep.ini"), "-o", store, *FIRST, "--set", "bn_momentum=0.01")
        bnsweep("verify", store)


if __name__ == "__main__":
    unittest.main()

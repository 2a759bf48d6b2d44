#!/usr/bin/python3
"""bnsweep verify --rerun: an honest store's bits come again, one altered cell is named, and what cannot be trained again is refused."""

import hashlib
import unittest.mock

from support import BASE, ENVIRONMENT, StoreTest, bnsweep, h5py, np, os, put, re, unittest

MEASURED = BASE.replace("reest = last", "reest = last\nswap_layer = always\nkeep_batch_stats = yes")
FILE = MEASURED.replace("image = 8\nclasses = 4", "data = file\nfile = data.h5") + """\
steps = 20
optimizer = sgd
lr = 0.01
[arm batch]
bn_momentum = 0.03, 0.3
[arm group]
norm = group
groups = 2
"""


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def flip(row, *place):
    """A change: the last bit of one value."""

    def change(dataset):
        values = dataset[row]
        bits = values.view(np.uint32 if values.dtype == np.float32 else np.uint64)
        bits[place] ^= bits.dtype.type(1)
        dataset[row] = values

    return change


class Rerun(StoreTest):
    ini = MEASURED + """\
steps = 24
[grid]
bn_momentum = 0.03, 0.3
seed = 0..1
[arm adam]
optimizer = adam
lr = 3e-3
[arm renorm]
norm = batchrenorm
optimizer = sgd
lr = 0.05
"""

    def fails(self, *said, **changes):
        found = bnsweep("verify", "--rerun", 8, "--all", self.copy(**changes), rc=3)
        for text in said:
            self.assertIn(text, found)
        return found

    def test_holds_and_leaves_the_store_alone(self):
        before = digest(self.store)
        text = bnsweep("verify", self.store, "--rerun", 100)
        self.assertRegex(text, r"8 of 8 done units, drawn with --seed \d+, trained again:\n  8 units in 6 trajectories, \d+ values compared; holds")
        self.assertRegex(text, r"\n0 errors, \d warnings\n$")
        self.assertEqual(before, digest(self.store))

    def test_the_seed_draws(self):
        def drawn(seed):
            said = bnsweep("verify", self.store, "--rerun", 2, "--seed", seed).error
            return re.findall(r"training unit (\d+)", said)

        self.assertEqual(drawn(7), drawn(7))
        self.assertGreater(len({tuple(drawn(seed)) for seed in range(1, 7)}), 1)

    def test_one_bit_of_one_value_is_named(self):
        row = int(self.rows(arm="renorm", bn_momentum=0.3, seed=1)[0])
        with h5py.File(self.store) as store:
            value = store["mean_lag"][row, 1, 2]
        found = self.fails(f"unit {row} (renorm), mean_lag, check 1, channel 2: ", f" stored, {value:.9g} now; 1 of ",
                           mean_lag=flip(row, 1, 2))
        self.assertIn("\n1 errors, ", found)

    def test_kept_batches_are_compared_in_double(self):
        row = int(self.rows(arm="adam", bn_momentum=0.03, seed=0)[0])
        self.fails(f"unit {row} (adam), batch_mean, step 5, channel 3: ", batch_mean=flip(row, 5, 3))
        self.fails(f"unit {row} (adam), weights, check 0, parameter 9: ", weights=flip(row, 0, 9))

    def test_hashes_and_steps(self):
        self.fails("unit 1 (", "), statistics_hash: " + "0" * 32 + " stored, ", statistics_hash=put(1, "0" * 32))
        self.fails("unit 2 (", "), weights_hash: " + "f" * 32 + " stored, ", weights_hash=put(2, "f" * 32))

    def test_values_that_training_does_not_give(self):
        row = int(self.rows(arm="adam", bn_momentum=0.3, seed=0)[0])
        self.fails(f"unit {row} (adam), acc_reest, check 0, reest 1: 0.5 stored, nan now", acc_reest=put((row, 0, 1), 0.5))
        self.fails(f"unit {row} (adam), norm_init, channel 2: nan stored, ", norm_init=put((row, 2), np.nan))

    def test_a_changed_setting_has_another_identity(self):
        found = self.fails("its settings have the identity", lr=put(slice(None), 0.011))
        self.assertIn("loss, check 0: ", found)

    def test_other_bits_are_refused(self):
        with h5py.File(self.store) as store:
            other = "baseline" if store.attrs["engine"].startswith("reference") else "reference"
        with unittest.mock.patch.dict(ENVIRONMENT, BNSWEEP_ISA=other):
            found = bnsweep("verify", self.store, "--rerun", 1, rc=2)
        self.assertIn("cannot be trained again here: the store was made by the engine ", found.error)
        self.assertEqual(found, "")  # refused before anything else

    def test_a_damaged_store_is_told_so(self):
        path = self.copy()
        with h5py.File(path) as store:
            chunk = store["angle"].id.get_chunk_info(0)
        with open(path, "r+b") as file:
            file.seek(chunk.byte_offset + 8)
            byte = file.read(1)
            file.seek(chunk.byte_offset + 8)
            file.write(bytes([byte[0] ^ 1]))
        found = bnsweep("verify", "--rerun", 1, path, rc=1)
        self.assertIn("angle", found + found.error)

    def test_nothing_done(self):
        text = bnsweep("verify", "--rerun", 3, self.copy(status=put(slice(None), 0)))
        self.assertIn("0 of 0 done units", text)


class RerunFromFiles(StoreTest):
    """data = file: the file must be there, with the bytes it had."""

    @classmethod
    def train(cls, ini, store, *arguments, rc=0):
        random = np.random.default_rng(1)
        with h5py.File(cls.path("data.h5"), "w") as file:
            for part, count in ("train", 64), ("val", 16):
                file[part + "_x"] = random.normal(size=(count, 3, 8, 8)).astype(np.float32)
                file[part + "_y"] = (np.arange(count) % 4).astype(np.int32)
        return super().train(ini, store, *arguments, rc=rc)

    ini = FILE

    def test_data_files(self):
        self.assertIn("3 units in 2 trajectories", bnsweep("verify", "--rerun", 3, self.store))
        path = self.path("data.h5")
        with h5py.File(path, "r+") as file:
            file["train_x"][0, 0, 0, 0] = 9
        self.assertIn("data.h5' has changed", bnsweep("verify", "--rerun", 1, self.store, rc=2).error)
        os.unlink(path)
        self.assertIn("cannot read the file", bnsweep("verify", "--rerun", 1, self.store, rc=2).error)
        bnsweep("verify", self.store)  # what needs no training needs no file


if __name__ == "__main__":
    unittest.main()

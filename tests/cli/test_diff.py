#!/usr/bin/python3
"""bnsweep diff: stores made in another order are equal; one flipped bit is found and named."""

import shutil

from support import TINY, BASE, StoreTest, bnsweep, h5py, np, put, unittest


def flip(index, bit=1):
    """A change: flip one bit of a float."""

    def change(data):
        row = data[index[0]]
        bits = row.view(np.uint32)
        bits[index[1:]] ^= bit
        data[index[0]] = bits.view(np.float32)

    return change


class Diff(StoreTest):
    def differs(self, other, *said):
        found = bnsweep("diff", self.store, other, rc=3)
        for text in said:
            self.assertRegex(found, text)
        return found

    def test_equal_to_itself(self):
        text = bnsweep("diff", self.store, self.copy())
        self.assertRegex(text, "^8 units in both: [1-9][0-9]* values compared, 0 differ, in 0 variables\n$")

    def test_extended_store_is_equal_but_for_what_is_new(self):
        other = self.path("extended.h5")
        self.train(TINY.replace("0..1", "1"), other)
        text = bnsweep("diff", self.store, other, rc=3)
        self.assertIn("4 units only in the first store", text)
        self.assertIn("4 units in both", text)
        self.assertRegex(text, ", 0 differ")
        self.train(TINY, other)
        with h5py.File(self.store) as a, h5py.File(other) as b:
            self.assertNotEqual(a["seed"][:].tolist(), b["seed"][:].tolist())
        self.assertIn("8 units in both", bnsweep("diff", self.store, other))
        self.assertRegex(bnsweep("diff", "--all", self.store, other, rc=3), "started: 8 of 8 values differ")

    def test_one_bit(self):
        for name, index, place in ("loss", (3, 1), "check 1"), ("angle", (5, 0, 7), "check 0, channel 7"), \
                                  ("lag_trace", (2, 3, 1), "sample 3, channel 1"), ("norm_init", (1, 4), "channel 4"), \
                                  ("acc_reest", (0, 1, 1), "check 1, reest 1"):
            other = self.copy(**{name: flip(index)})
            self.differs(other, f"  {name}, unit {index[0]} and {index[0]}, {place}: ", f"{name}: 1 of ", "1 differ, in 1 variables")

    def test_nan(self):
        a, b = self.path("nan_a.h5"), self.path("nan_b.h5")
        for path, payload in (a, 0x7fc00000), (b, 0x7fc00001):
            shutil.copyfile(self.copy(loss=put((0, 0), np.array([payload], np.uint32).view(np.float32)[0])), path)
        self.assertIn("0 differ", bnsweep("diff", a, a))
        bnsweep("diff", self.store, a, rc=3)
        with h5py.File(b) as file:
            kept = file["loss"][0].view(np.uint32)[0]
        self.assertIn("1 differ" if kept == 0x7fc00001 else "0 differ", bnsweep("diff", a, b, rc=3 if kept == 0x7fc00001 else 0))
        zero, minus = self.path("zero.h5"), self.path("minus.h5")
        shutil.copyfile(self.copy(loss=put((0, 0), 0.0)), zero)
        shutil.copyfile(self.copy(loss=put((0, 0), -0.0)), minus)
        bnsweep("diff", zero, minus, rc=3)

    def test_columns(self):
        self.differs(self.copy(status=put(4, 3)), "status, unit 4 and 4: '2' and '3'")
        self.differs(self.copy(weights_hash=put(4, "0" * 32)), "weights_hash: 1 of 8 values differ")
        self.differs(self.copy(lr=put(4, 0.003000001)), "lr, unit 4 and 4: '0.05' and '0.003000001'")
        circumstances = {"host": put(1, "elsewhere"), "rank": put(1, 9), "started": put(1, 1.0), "seconds": put(1, 2.0), "attempts": put(1, 5)}
        other = self.copy(**circumstances)
        bnsweep("diff", self.store, other)
        text = bnsweep("diff", "--all", self.store, other, rc=3)
        for name in circumstances:
            self.assertIn(f"{name}: 1 of 8 values differ", text)

    def test_how_many_are_printed(self):
        other = self.copy(acc_eval=put(slice(None), 0.123))
        self.assertEqual(self.differs(other).count("  acc_eval, unit"), 3)
        self.assertEqual(bnsweep("diff", "--first", 5, self.store, other, rc=3).count("  acc_eval, unit"), 5)
        self.assertIn("'0'; a whole number", bnsweep("diff", "--first", 0, self.store, other, rc=2).error)

    def test_another_sweep(self):
        other = self.path("other.h5")
        self.train(BASE + "steps = 30\noptimizer = adam\nlr = 1e-3\n", other)
        self.differs(other, "axis check: 2 and 3 long", "8 units only in the first store", "1 units only in the second store",
                     "0 units in both")

    def test_duplicate_identity(self):
        def copy_identity(identity):
            identity[1] = identity[0]

        self.assertIn("same identity", bnsweep("diff", self.store, self.copy(identity=copy_identity), rc=1).error)


unittest.main()

#!/usr/bin/python3
"""bnsweep export: the files hold every measured number to the bit, and appear whole or not at all."""

import csv
import fcntl
import os
import shutil

from support import TINY, StoreTest, bnsweep, h5py, np, put, unittest

FILES = {
    "checks.csv": ["unit", "step"], "channels.csv": ["unit", "step", "layer", "channel", "index"],
    "channels_init.csv": ["unit", "layer", "channel", "index"], "trace.csv": ["unit", "step", "layer", "channel", "index"],
    "reest.csv": ["unit", "step", "reest"], "swap_layer.csv": ["unit", "step", "layer"], "swap_top.csv": ["unit", "step", "order", "k"],
    "ema.csv": ["unit", "step", "ema"],
}


class Export(StoreTest):
    ini = TINY.replace("reest = last", "reest = last\nswap_layer = always\nswap_top = last\nema = always\nema_decays = 0.9,0.999")

    def export(self, store=None, name="out", **options):
        shutil.rmtree(self.path(name), ignore_errors=True)
        output = bnsweep("export", store or self.store, "--csv", self.path(name), **options)
        self.assertEqual(output, "")
        return self.path(name)

    def read(self, folder, name):
        with open(os.path.join(folder, name), newline="") as file:
            return list(csv.DictReader(file))

    def place(self, file, row):
        """The index of a CSV row in its variables' arrays."""
        index = [int(row["unit"])]
        for key in row:
            if key == "step":
                axis = "sample" if "lag_trace" in row else "check"
                index.append(file[axis][:].tolist().index(int(row[key])))
            elif key == "channel":
                index.append(int(row[key]))
                self.assertEqual(row["layer"], file["layer"].asstr()[file["channel_layer"][index[-1]] - 1])
                self.assertEqual(int(row["index"]), file["channel_index"][index[-1]])
            elif key in ("reest", "k"):
                index.append(file[key][:].tolist().index(int(row[key])))
            elif key == "ema":
                index.append(file[key][:].tolist().index(float(row[key])))
            elif key == "order" or (key == "layer" and "channel" not in row):
                index.append(file[key].asstr()[:].tolist().index(row[key]))
        return tuple(index)

    def test_every_value(self):
        folder = self.export()
        self.assertEqual(set(os.listdir(folder)), {"units.csv", *FILES})
        seen = set()
        with h5py.File(self.store) as file:
            for name, keys in FILES.items():
                rows = self.read(folder, name)
                self.assertEqual(list(rows[0])[:len(keys)], keys)
                variables = list(rows[0])[len(keys):]
                arrays = {variable: file[variable][:] for variable in variables}
                found = {variable: np.full(array.shape, np.nan, np.float32) for variable, array in arrays.items()}
                for row in rows:
                    place = self.place(file, row)
                    for variable in variables:
                        if row[variable]:
                            found[variable][place] = np.float32(row[variable])
                for variable in variables:
                    np.testing.assert_array_equal(found[variable], arrays[variable], variable)
                    self.assertTrue(np.isfinite(found[variable]).any(), variable)
                seen |= set(variables)
            measured = {name for name, data in file.items() if data.ndim > 1}
        self.assertEqual(seen, measured)

    def test_numbers_are_short(self):
        rows = self.read(self.export(), "checks.csv")
        self.assertEqual({row["lr_applied"] for row in rows}, {"0.003", "0.05"})

    def test_units(self):
        rows = self.read(self.export(), "units.csv")
        self.assertEqual(len(rows), 8)
        with h5py.File(self.store) as file:
            names = [name for name, data in file.items() if data.ndim == 1 and data.maxshape == (None,)]
            self.assertEqual(set(rows[0]), {*names, "status_name"})
            for name in names:
                data = file[name]
                for i, row in enumerate(rows):
                    if h5py.check_string_dtype(data.dtype):
                        self.assertEqual(row[name], data.asstr()[i])
                    elif row[name] == "":
                        self.assertTrue(np.isnan(data[i]), name)
                    else:
                        self.assertEqual(float(row[name]), data[i])
        self.assertEqual({row["status_name"] for row in rows}, {"done"})
        self.assertEqual(rows[0]["momentum"], "")

    def test_quoting(self):
        reason = 'killed, "hard"\nby signal\r9'
        store = self.copy(status=put(1, 4), reason=put(1, reason))
        row = self.read(self.export(store), "units.csv")[1]
        self.assertEqual([row["reason"], row["status_name"]], [reason, "failed"])

    def test_what_was_not_measured_is_left_out(self):
        nan = float("nan")
        folder = self.export(self.copy(acc_reest=put(slice(0, 7), nan), loss=put((0, 0), nan)))
        self.assertEqual({row["unit"] for row in self.read(folder, "reest.csv")}, {"7"})
        self.assertEqual(self.read(folder, "checks.csv")[0]["loss"], "")

    def test_target(self):
        empty, full, file = self.path("empty"), self.path("full"), self.path("file")
        os.mkdir(empty)
        bnsweep("export", self.store, "--csv", empty + "/")
        self.assertIn("units.csv", os.listdir(empty))
        os.mkdir(full)
        self.assertEqual(os.stat(empty).st_mode, os.stat(full).st_mode)
        open(os.path.join(full, "mine"), "w").close()
        open(file, "w").close()
        for path in full, file, empty:
            self.assertIn("not an empty folder", bnsweep("export", self.store, "--csv", path, rc=2).error)
        self.assertEqual(os.listdir(full), ["mine"])
        bnsweep("export", self.store, "--csv", self.path("no/such/place"), rc=1)
        self.assertIn("--csv DIR is missing", bnsweep("export", self.store, rc=2).error)
        self.assertEqual([name for name in os.listdir(self.folder) if ".part-" in name], [])

    def test_killed_one_is_cleaned_up(self):
        target = self.path("killed")
        mine, left, other = target + ".part-abcdef", target + ".part-ghijkl", target + ".part-longer-name"
        for folder in mine, left, other:
            os.mkdir(folder)
            open(os.path.join(folder, "units.csv"), "w").close()
        lock = os.open(mine, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)  # as one that is being filled
        bnsweep("export", self.store, "--csv", target)
        os.close(lock)
        self.assertEqual([os.path.exists(folder) for folder in (target, mine, left, other)], [True, True, False, True])
        shutil.rmtree(mine)
        shutil.rmtree(other)

    def test_nothing_half_made(self):
        """A chunk that cannot be read ends the export; the folder does not appear."""
        path = self.copy()
        with h5py.File(path) as file:
            at = file["lag_trace"].id.get_chunk_info(0).byte_offset
        with open(path, "r+b") as file:
            file.seek(at + 5)
            file.write(b"\xff\xff\xff\xff")
        self.assertIn("lag_trace", bnsweep("export", path, "--csv", self.path("half"), rc=1).error)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("half")], [])


unittest.main()

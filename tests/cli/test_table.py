#!/usr/bin/python3
"""bnsweep table: every number against h5py's computation from the same store."""

import csv
import io
import json
import os

from support import BASE, StoreTest, bnsweep, h5py, np, put, unittest

MEASURES = ["rotation", "norm_growth", "acc_eval", "checks_below_90", "acc_train", "acc_reest"]


def measures(store):
    """{measure: [unit]}, by the definitions of `bnsweep table --help`."""
    with h5py.File(store) as file:
        last = file["channel_layer"][:] == file["channel_layer"][-1]
        acc = file["acc_eval"][:].astype(float)
        growth = (file["norm"][:].astype(float) / file["norm_init"][:].astype(float)[:, None, :])[:, :, last].mean(2)
        with np.errstate(invalid="ignore"):
            return {
                "rotation": file["angle"][:][:, :, last].astype(float).mean(2).mean(1) * 100 / file["angle_window"][:],
                "norm_growth": growth[:, -1],
                "acc_eval": acc.mean(1),
                "checks_below_90": (file["acc_eval"][:] < np.float32(0.9)).mean(1),
                "acc_train": file["acc_train"][:].astype(float).mean(1),
                "acc_reest": file["acc_reest"][:, -1, -1].astype(float),
            }


class Table(StoreTest):
    def rows_of(self, store=None):
        return list(csv.DictReader(io.StringIO(bnsweep("table", "--csv", store or self.store))))

    def test_values(self):
        expected = measures(self.store)
        rows = self.rows_of()
        self.assertEqual(len(rows), 4)
        for row in rows:
            units = self.rows(arm=row["arm"], bn_momentum=float(row["bn_momentum"]))
            self.assertEqual([row["units"], row["done"], row["pending"]], ["2", "2", "0"])
            for name in MEASURES:
                values = expected[name][units]
                self.assertTrue(np.isfinite(values).all(), name)
                self.assertAlmostEqual(float(row[name]), values.mean(), 9, name)
                self.assertAlmostEqual(float(row[name + "_sd"]), values.std(ddof=1), 9, name)

    def test_sorted_by_rotation(self):
        rotations = [float(row["rotation"]) for row in self.rows_of()]
        self.assertEqual(rotations, sorted(rotations))
        self.assertGreater(rotations[-1], rotations[0])

    def test_json_says_the_same(self):
        table = json.loads(bnsweep("table", "--json", self.store))
        self.assertEqual(table["journal_waiting"], 0)
        for row, of_csv in zip(table["rows"], self.rows_of(), strict=True):
            self.assertEqual(row["arm"], of_csv["arm"])
            self.assertEqual(row["settings"], {"bn_momentum": float(of_csv["bn_momentum"])})
            for name in MEASURES:
                self.assertEqual(row[name]["n"], 2)
                self.assertAlmostEqual(row[name]["mean"], float(of_csv[name]), 9)
                self.assertAlmostEqual(row[name]["sd"], float(of_csv[name + "_sd"]), 9)

    def test_text_and_markdown(self):
        first = self.rows_of()[0]
        rotation = f"{float(first['rotation']):.2f}° ± {float(first['rotation_sd']):.2f}"
        text = bnsweep("table", self.store)
        self.assertIn(rotation, text.splitlines()[1])
        markdown = bnsweep("table", "--markdown", self.store).splitlines()
        self.assertTrue(markdown[0].startswith("| arm "))
        self.assertRegex(markdown[1], r"^\|[-:|]+\|$")
        self.assertIn(rotation, [cell.strip() for cell in markdown[2].split("|")])
        self.assertEqual(len({line.count("|") for line in markdown[:6]}), 1)

    def test_run_prints_it(self):
        text = bnsweep("table", self.store)
        said = text + f"The store is {os.path.realpath(self.store)}\n"
        self.assertEqual(self.ran, said)
        again = self.train(self.ini, self.store)
        self.assertIn("nothing to do", again.error)
        self.assertEqual(again, said)

    def test_units_that_are_not_done_are_said(self):
        adam = self.rows(arm="adam", bn_momentum=0.03)
        sgd = self.rows(arm="sgd", bn_momentum=0.3)
        store = self.copy(status=lambda status: (put(adam[0], 3)(status), put(sgd[0], 0)(status), put(sgd[1], 4)(status)))
        rows = {(row["arm"], row["bn_momentum"]): row for row in self.rows_of(store)}
        row = rows["adam", "0.03"]
        self.assertEqual([row["units"], row["done"], row["diverged"]], ["2", "1", "1"])
        self.assertAlmostEqual(float(row["rotation"]), measures(self.store)["rotation"][adam[1]], 9)
        self.assertEqual(row["rotation_sd"], "")
        row = rows["sgd", "0.3"]
        self.assertEqual([row["done"], row["pending"], row["failed"], row["rotation"]], ["0", "1", "1", ""])
        self.assertEqual(self.rows_of(store)[-1], row)
        text = bnsweep("table", store)
        self.assertIn("1 of 2: 1 diverged", text)
        self.assertIn("0 of 2: 1 failed, 1 pending", text)
        self.assertIn("3 of 8 units are not done", text)

    def test_a_check_of_exactly_90_percent_passes(self):
        store = self.copy(acc_eval=put(slice(None), np.float32(0.9)))
        self.assertEqual({row["checks_below_90"] for row in self.rows_of(store)}, {"0"})

    def test_formats_exclude_each_other(self):
        self.assertIn("exclude", bnsweep("table", "--csv", "--json", self.store, rc=2).error)


class OtherSettings(StoreTest):
    ini = BASE + "optimizer = adam\n[grid]\nlr = 1e-3, 1e-2\nsteps = 20, 30\nseed = 0..1\n[arm a]\nnorm = batch, layer\n"

    def test_rows_by_every_setting_that_varies(self):
        rows = list(csv.DictReader(io.StringIO(bnsweep("table", "--csv", self.store))))
        self.assertEqual(list(rows[0])[:5], ["arm", "bn_momentum", "norm", "steps", "lr"])
        self.assertEqual(len(rows), 8)
        self.assertEqual({row["bn_momentum"] for row in rows if row["norm"] == "layer"}, {""})
        self.assertIn("norm, steps and lr", bnsweep("table", self.store))
        for row in rows:
            units = self.rows(norm_setting=row["norm"], steps=int(row["steps"]), lr=float(row["lr"]))
            self.assertEqual(len(units), 2)
            checks = int(row["steps"]) // 10
            with h5py.File(self.store) as file:
                acc = file["acc_eval"][:][units].astype(float)
                last = file["channel_layer"][:] == 2
                growth = (file["norm"][:][units, checks - 1] / file["norm_init"][:][units].astype(float))[:, last].mean()
            self.assertEqual(np.isnan(acc).sum(), 2 * (3 - checks))
            self.assertAlmostEqual(float(row["acc_eval"]), np.nanmean(acc, 1).mean(), 9)
            self.assertAlmostEqual(float(row["norm_growth"]), growth, 9)
            self.assertEqual(row["acc_reest"] == "", row["norm"] == "layer")


unittest.main()

#!/usr/bin/python3
"""What the report says of stores with known numbers, and what report.py refuses."""

import html
import re
import subprocess
import unittest

import h5py
import numpy as np
from stores import CHART_JS, GROUP, REPORT, ReportTest, report, stale, train

import bnstore
import report_data
import report_page

ADAM = [4, 6]  # adam at bn_momentum 0.03


def text_of(page, start, end):
    """The text between two marks of the page, a blank between elements."""
    part = page[page.index(start):]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", part[:part.index(end)])))


class Findings(ReportTest):
    def page(self, store):
        with bnstore.open(store) as opened:
            return report_page.make(opened, store.name, CHART_JS.read_text(encoding="utf-8"))

    def finding(self, store):
        return text_of(self.page(store), '<section id="finding"', "</section>")

    def test_stale(self):
        found = self.finding(self.copy("stale", lambda file: stale(file, ADAM)))
        self.assertIn("The running statistics are stale in adam (bn_momentum 0.03).", found)
        self.assertIn("adam: evaluation mode averages 25.0% at bn_momentum 0.03, training mode 100.0%", found)
        self.assertIn("stale at 100.0% of its checks", found)
        self.assertIn("Keeping up: sgd (bn_momentum 0.03 and 0.3) and adam (bn_momentum 0.3).", found)
        self.assertIn("the running mean of conv2, channel 1, was 1.50 \u03c3", found)
        self.assertIn("32 steps old", found)  # (1 - 0.03) / 0.03
        self.assertIn("from 25.0% to 100.0% without touching the weights", found)
        self.assertIn("adam from 25.0% at bn_momentum 0.03 to 99.0% at 0.3", found)

    def test_reestimation_that_does_not_help(self):
        def change(file):
            stale(file, ADAM)
            file["acc_reest"][ADAM, -1] = 0.5
        self.assertIn("short of training mode's 100.0%: something else is wrong there too", self.finding(self.copy("short", change)))

    def test_reestimation_not_measured(self):
        def change(file):
            stale(file, ADAM)
            file["acc_reest"][:] = np.nan
        page = self.page(self.copy("unknown", change))
        self.assertIn("Re-estimating: was not measured", text_of(page, '<section id="finding"', "</section>"))
        self.assertIn("what re-estimation would give is not measured", text_of(page, '<section id="warnings"', "</section>"))

    def test_warning_of_a_stale_row(self):
        said = text_of(self.page(self.copy("warned", lambda file: stale(file, ADAM, slice(1, None)))), '<section id="warnings"', "</section>")
        self.assertIn("adam, bn_momentum 0.03: lag of 0.5 \u03c3 or more and a train/eval gap at 6 of 8 checks, first at step 20: the statistics are "
                      "stale; re-estimation gives 100.0% where evaluation mode has 25.0%.", said)
        self.assertEqual(said.count("train/eval gap"), 1)

    def test_nothing_stale(self):
        found = self.finding(self.copy("fresh", lambda file: None))
        self.assertIn("Nothing is stale: evaluation mode keeps up with training mode in every arm.", found)
        self.assertIn("Keeping up: sgd (bn_momentum 0.03 and 0.3) and adam (bn_momentum 0.03 and 0.3).", found)
        self.assertNotIn("What fixes it", found)

    def test_limits(self):
        """A gap of 5 points and a lag of 0.5 count, less does not."""
        def change(file, gap, lag):
            stale(file, ADAM)
            file["acc_eval"][ADAM] = 1 - gap
            file["mean_lag"][ADAM, :, 5] = lag
        self.assertIn("are stale in adam", self.finding(self.copy("at", lambda file: change(file, 0.0625, -0.5))))
        self.assertIn("Nothing is stale: running means lag", self.finding(self.copy("narrow", lambda file: change(file, 0.03125, -0.5))))
        self.assertIn("falls behind in adam (bn_momentum 0.03), with lags below 0.5", self.finding(self.copy("near", lambda file: change(file, 0.0625, -0.49))))

    def test_hardly_trained(self):
        def change(file):
            stale(file, ADAM)
            file["acc_train"][ADAM] = 0.5
        self.assertIn("too early to call it stale", self.finding(self.copy("early", change)))

    def test_no_check_yet(self):
        def change(file):
            file["status"][:] = 0
            for name, values in file.items():
                if values.ndim > 1:
                    values[:] = np.nan
        page = self.page(self.copy("pending", change))
        self.assertIn("Not enough is measured yet to say anything. How far it is No unit has reached its first check (0 of 8 units done).",
                      text_of(page, '<section id="finding"', "</section>"))
        self.assertIn("0 running and 8 pending of 8 units", text_of(page, '<section id="warnings"', "</section>"))

    def test_in_the_middle(self):
        """Pending, running, failed and diverged units; what is not measured is NaN."""
        def change(file):
            stale(file, ADAM)
            file["status"][:] = [0, 1, 1, 2, 2, 3, 2, 4]
            file["reason"][7] = "killed by signal 9 <b>"
            for unit, checks in ((0, 0), (1, 2), (2, 2), (5, 1), (7, 0)):
                for name in ("acc_train", "acc_eval", "acc_reest", "mean_lag", "loss", "angle", "norm", "drift", "var_ratio", "lr_applied"):
                    values = file[name][unit]
                    values[checks:] = np.nan
                    file[name][unit] = values
        page = self.page(self.copy("middle", change))
        self.assertIn("stale in adam (bn_momentum 0.03)", text_of(page, '<section id="finding"', "</section>"))
        warned = text_of(page, '<section id="warnings"', "</section>")
        for said in ("gap at 8 of 8 checks", "2 running and 1 pending of 8 units", "1 unit diverged (in adam)", "Reason: killed by signal 9 <b>."):
            self.assertIn(said, warned)
        self.assertNotIn("<b>", page[page.index('<section id="warnings"'):page.index('<section id="units"')])

    def test_no_running_statistics(self):
        found = self.finding(self.copy("group", lambda file: file["acc_eval"].write_direct(np.ones(file["acc_eval"].shape, "f4")),
                                       train(self.folder, "group_base", GROUP)))
        self.assertIn("Nothing can go stale here: these networks have no running statistics.", found)
        self.assertIn("Without running statistics: sgd and adam", found)

    def test_one_unit(self):
        store = train(self.folder, "one", "").with_suffix(".h5")
        with h5py.File(store, "r+") as file:
            for values in file.values():
                if values.maxshape[0] is None:
                    values.resize(1, 0)
        self.assertIn("1 unit of 1 arm (1 done)", text_of(self.page(store), "<header", "</header>"))

    def test_no_unit(self):
        def change(file):
            for values in file.values():
                if values.maxshape[0] is None:
                    values.resize(0, 0)
        self.assertIn("Not enough is measured", self.finding(self.copy("empty", change)))

    def test_rows_are_those_of_the_table(self):
        with bnstore.open(self.batch) as store:
            rows, frame = report_data.rows(store, bnstore.measures(store)), bnstore.table(store)
            self.assertEqual(len(rows), len(frame))
            for row, (_, wanted) in zip(rows, frame.iterrows()):
                self.assertEqual((row.arm, row.keys["bn_momentum"], len(row.units)), (wanted["arm"], wanted["bn_momentum"], wanted["units"]))
                for name in bnstore.MEASURES:
                    np.testing.assert_allclose([row.mean[name], row.sd[name]], [wanted[name], wanted[name + "_sd"]], rtol=1e-12)

    def test_provenance(self):
        page = self.page(self.batch)
        with h5py.File(self.batch) as file:
            for name in ("program_version", "git_commit", "engine", "ini", "resolved", "store_id"):
                self.assertIn(html.escape(file.attrs[name]), page, name)

    def test_refusals(self):
        text = self.folder / "text.h5"
        text.write_text("no store")
        script = self.folder / "other.js"
        script.write_text("something else")
        for arguments, rc, said in (
                ((self.folder / "none.h5",), 2, "none.h5: no such file"),
                ((text,), 2, "text.h5: not an HDF5 file"),
                ((self.batch, "-o", self.batch), 2, "that is the store; name another file with -o"),
                ((self.batch, "-o", self.folder / "nowhere" / "a.html"), 1, "a.html: cannot be written: No such file or directory"),
                ((self.batch, "--chart-js", self.folder / "none.js"), 2, "install libjs-chart.js"),
                ((self.batch, "--chart-js", script), 2, "other.js: not the minified bundle of Chart.js 3")):
            with self.subTest(said):
                _, error = report(*arguments, rc=rc)
                self.assertIn(said, error)
                self.assertEqual(error.count("\n"), 1, error)
        self.assertTrue(h5py.is_hdf5(self.batch))

    def test_program(self):
        out = self.folder / "made.html"
        subprocess.run([REPORT, self.batch, "-o", out], check=True, stdout=subprocess.DEVNULL, timeout=300)
        self.assertTrue(out.read_text(encoding="utf-8").startswith("<!doctype html>"))
        self.assertEqual([path.name for path in self.folder.glob("made*")], ["made.html"])

    def test_missing_packages(self):
        done = subprocess.run(["/usr/bin/python3", "-S", REPORT, self.batch], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=300)  # -S: without Debian's packages
        self.assertEqual(done.returncode, 2)
        self.assertIn("install python3-numpy python3-pandas python3-xarray python3-h5py", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()

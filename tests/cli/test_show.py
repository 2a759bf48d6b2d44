#!/usr/bin/python3
"""bnsweep show: which unit is meant, what its checks say, and the verdict."""

from support import BASE, StoreTest, bnsweep, h5py, np, put, unittest


class Show(StoreTest):
    def only(self, **settings):
        rows = self.rows(**settings)
        self.assertEqual(len(rows), 1)
        return int(rows[0])

    def test_selection(self):
        row = self.only(arm="sgd", bn_momentum=0.3, seed=1)
        by_row = bnsweep("show", self.store, row)
        self.assertTrue(by_row.startswith(f"unit {row} of "))
        for text in "sgd,bn_momentum=0.3,seed=1", "seed=1,sgd,bn_momentum=.30", "optimizer=sgd,seed=1,bn_momentum=3e-1":
            self.assertEqual(bnsweep("show", self.store, text), by_row, text)

    def test_selection_refused(self):
        for text, said in [
            ("adam", "4 units are 'adam'"),
            ("adam,seed=1", "bn_momentum (0.03, 0.3)"),
            ("adam,seed=7", "no unit has seed = '7'; there are: 0, 1"),
            ("adma", "no unit has arm = 'adma'; there are: adam, sgd"),
            ("bn_momentun=0.3", "did you mean 'bn_momentum'"),
            ("seed=x", "is not a whole number"),
            ("adam,optimizer=sgd", "not all of them together"),
            ("8", "there is no unit 8"),
            ("99999999999999999999", "there is no unit"),
        ]:
            self.assertIn(said, bnsweep("show", self.store, text, rc=2).error, text)

    def test_settings_and_hashes(self):
        row = self.only(arm="sgd", bn_momentum=0.03, seed=0)
        text = bnsweep("show", self.store, row)
        with h5py.File(self.store) as file:
            for name in "weights_hash", "weights_init_hash", "statistics_hash", "identity":
                self.assertIn(file[name].asstr()[row], text)
        for line in "status             done", "momentum           0.9", "bn_momentum        0.03", "channels           4-4", "steps              20":
            self.assertIn("\n  " + line + "\n", text)
        self.assertIn("as read back from the network", text)
        self.assertNotIn("beta1", text)

    def test_checks(self):
        row = self.only(arm="adam", bn_momentum=0.3, seed=1)
        lines = bnsweep("show", self.store, row).splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("step "))
        with h5py.File(self.store) as file:
            for i, step in enumerate(file["check"][:]):
                cells = lines[start + 1 + i].split()
                lag = file["mean_lag"][row, i]
                worst = np.abs(lag).argmax()
                last = file["channel_layer"][:] == 2
                acc_train, acc_eval = file["acc_train"][row, i], file["acc_eval"][row, i]
                reest = file["acc_reest"][row, i, -1]
                ratio = file["var_ratio"][row, i]
                self.assertEqual(cells[0], str(step))
                self.assertEqual(float(cells[1]), 0.003)
                self.assertEqual(cells[2], f"{file['loss'][row, i]:.4g}")
                self.assertEqual(cells[3:6], [f"{100 * acc_train:.1f}", f"{100 * acc_eval:.1f}", f"{100 * (acc_train - acc_eval):.1f}"])
                self.assertEqual(cells[6], "-" if np.isnan(reest) else f"{100 * reest:.1f}")
                self.assertEqual(cells[7], f"{20 * file['angle'][row, i][last].astype(float).mean():.2f}")
                self.assertEqual(cells[9], f"{lag[worst]:+.3f}")
                self.assertEqual(cells[10], f"conv{file['channel_layer'][worst]}:{file['channel_index'][worst]}")
                self.assertEqual(cells[11], f"{ratio[np.abs(np.log(ratio)).argmax()]:.3f}")
        self.assertEqual(len(lines[start + 1].split()), 12)

    def verdict(self, row=0, **changes):
        text = bnsweep("show", self.copy(**changes), row)
        return text[text.index("verdict: "):]

    def test_verdicts(self):
        fine = {"acc_train": put((0, slice(None)), 1), "acc_eval": put((0, slice(None)), 1), "mean_lag": put(0, 0.1), "var_ratio": put(0, 1)}
        self.assertIn("up to date", self.verdict(**fine))
        lag = put((0, 1, 6), -2.25)
        low = put((0, 1), 0.25)

        def lagging(data):
            fine["mean_lag"](data)
            lag(data)

        def failing(data):
            fine["acc_eval"](data)
            low(data)

        text = self.verdict(**dict(fine, acc_eval=failing, mean_lag=lagging, acc_reest=put((0, 1), 0.875)))
        self.assertIn("THE RUNNING STATISTICS ARE STALE at 1 of 2 checks, the first at step 20", text)
        self.assertIn("gap between the modes: 75.0 points (training mode 100.0%, evaluation mode 25.0%) at step 20", text)
        self.assertIn("-2.25 standard deviations (conv2, channel 2) at step 20", text)
        self.assertIn("re-estimating the statistics gave 87.5% at step 20, where evaluation mode had 25.0%", text)
        self.assertIn("does not suffer from it (yet)", self.verdict(**dict(fine, mean_lag=lagging)))
        self.assertIn("look for another cause", self.verdict(**dict(fine, acc_eval=failing)))
        self.assertIn("a running variance is", self.verdict(**dict(fine, acc_eval=failing, var_ratio=put((0, 1, 0), 3))))

    def test_pending(self):
        nan = float("nan")
        text = bnsweep("show", self.copy(status=put(0, 0), lr_applied=put(0, nan), acc_eval=put(0, nan), acc_train=put(0, nan)), 0)
        self.assertIn("as asked for", text)
        self.assertIn("verdict: none, no check was made", text)


class NoStatistics(StoreTest):
    ini = BASE.replace("channels = 4-4\n", "channels = 4-4\nnorm = layer\n").replace("reest_batches = 2,3\nreest = last", "reest = never") + \
        "steps = 20\noptimizer = adam\nlr = 1e-3\n"

    def test_verdict(self):
        text = bnsweep("show", self.store, 0)
        self.assertIn("no running statistics that could go stale", text)


unittest.main()

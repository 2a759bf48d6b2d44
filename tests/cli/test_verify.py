#!/usr/bin/python3
"""bnsweep verify: a sound store holds, every kind of tampering is found, and settings that rightly do nothing are no errors."""

from support import BASE, StoreTest, bnsweep, h5py, move, np, put, re, unittest

TRACES = ["loss", "lr_applied", "acc_train", "val_loss_train", "acc_eval", "val_loss_eval", "angle", "norm", "cos_update", "cos_grad",
          "running_mean", "running_var", "mean_lag", "var_ratio", "mu_over_sigma", "drift", "lag_trace", "acc_reest"]


def verdicts(text):
    """{setting: (pairs, verdict)}"""
    table = text[text.index("setting  "):text.index("\n\nunits with")].splitlines()
    at = table[0].index("verdict")
    return {line.split()[0]: (int(line.split()[1]), line[at:]) for line in table[1:]}


class Verify(StoreTest):
    def fails(self, *said, **changes):
        found = bnsweep("verify", "--all", self.copy(**changes), rc=3)
        self.assertIn("errors found", found.error)
        for text in said:
            self.assertRegex(found, text)
        return found

    def unit(self, **settings):
        return int(self.rows(**settings)[0])

    def test_holds(self):
        text = bnsweep("verify", self.store)
        self.assertTrue(text.endswith("\n0 errors, 0 warnings\n"))
        found = verdicts(text)
        self.assertEqual(found["bn_momentum"], (4, "holds"))
        self.assertEqual(found["seed"], (4, "holds"))
        self.assertEqual(found["lr"], (0, "no two units differ in it alone"))
        self.assertIn("8 units compared, 0 pairs found", text)
        self.assertIn("16 checks of 8 units; holds", text)

    def test_traces_over_anothers(self):
        a, b = self.unit(arm="adam", bn_momentum=0.03, seed=0), self.unit(arm="sgd", bn_momentum=0.03, seed=1)
        self.fails(f"ERROR: units ({a}|{b}) .* differ in .*optimizer.* one unit's values stand in both rows",
                   **{name: move(a, b) for name in TRACES})

    def test_traces_over_the_other_momentums(self):
        a, b = self.unit(arm="sgd", bn_momentum=0.3, seed=1), self.unit(arm="sgd", bn_momentum=0.03, seed=1)
        text = self.fails("differ in bn_momentum, but all their measurements are the same",
                          "the running statistics and evaluation accuracy are the same: the setting was not applied",
                          **{name: move(a, b) for name in TRACES})
        self.assertEqual(verdicts(text)["bn_momentum"], (4, "DOES NOT HOLD in 1 pairs"))

    def test_momentum_with_other_weights(self):
        row = self.unit(arm="adam", bn_momentum=0.3, seed=0)
        text = self.fails("bn_momentum: units .* the final weights differ, which this setting cannot do", weights_hash=put(row, "0" * 32))
        self.assertEqual(verdicts(text)["bn_momentum"][1], "DOES NOT HOLD in 1 pairs")

    def test_momentum_with_another_loss(self):
        row = self.unit(arm="adam", bn_momentum=0.3, seed=0)

        def flip(loss):
            bits = loss[row].view(np.uint32)
            bits[1] ^= 1
            loss[row] = bits.view(np.float32)

        self.fails("bn_momentum: .* the loss, norms and angles differ", loss=flip)

    def test_momentum_not_applied(self):
        a, b = self.unit(arm="adam", bn_momentum=0.3, seed=0), self.unit(arm="adam", bn_momentum=0.03, seed=0)
        self.fails("bn_momentum: .* the final running statistics are the same: the setting was not applied", statistics_hash=move(a, b))

    def test_seed_not_applied(self):
        a, b = self.unit(arm="adam", bn_momentum=0.3, seed=0), self.unit(arm="adam", bn_momentum=0.3, seed=1)
        text = self.fails("seed: .* the initial weights are the same: the setting was not applied", weights_init_hash=move(a, b))
        self.assertIn("DOES NOT HOLD", verdicts(text)["seed"][1])
        self.assertIn("DOES NOT HOLD", verdicts(text)["bn_momentum"][1])
        self.fails("seed: .* the final weights are the same", weights_hash=move(a, b))

    def test_everything_copied(self):
        """As if the changed settings had never been loaded: the article's mistake."""
        a, b = self.unit(arm="adam", bn_momentum=0.3, seed=0), self.unit(arm="adam", bn_momentum=0.03, seed=1)
        hashes = ["weights_hash", "weights_init_hash", "statistics_hash"]
        self.fails("differ in (seed, bn_momentum|bn_momentum, seed), but all their measurements are the same to the bit and so are",
                   **{name: move(a, b) for name in TRACES + hashes})

    def test_learning_rate_not_applied(self):
        row = self.unit(arm="sgd", bn_momentum=0.3, seed=0)
        self.fails(f"lr_applied: unit {row} .* had the learning rate [0-9.]* at step 20, its schedule says 0.05",
                   lr_applied=put((row, 1), 0.04))

    def test_missing_check(self):
        nan = float("nan")
        self.fails("ERROR: row 3 is done, but has 1 of 2 checks", **{name: put((3, 1), nan) for name in TRACES if name != "lag_trace"})

    def test_no_hash(self):
        self.fails("unit 2 is done, but its weights_hash is ''", weights_hash=put(2, ""))

    def test_flipped_byte_in_the_file(self):
        path = self.copy()
        with h5py.File(path) as file:
            at = file["angle"].id.get_chunk_info(0).byte_offset
        with open(path, "r+b") as file:
            file.seek(at + 5)
            byte = file.read(1)
            file.seek(at + 5)
            file.write(bytes([byte[0] ^ 4]))
        self.assertRegex(bnsweep("verify", path, rc=3), "ERROR: angle")

    def test_units_that_are_not_done_prove_nothing(self):
        row = self.unit(arm="adam", bn_momentum=0.3, seed=0)
        path = self.copy(status=put(row, 3), weights_hash=put(row, ""), statistics_hash=put(row, ""))
        self.assertEqual(verdicts(bnsweep("verify", path))["bn_momentum"], (3, "holds"))

    def test_findings_are_cut(self):
        path = self.copy(weights_init_hash=put(slice(None), "1" * 32))
        short, long = bnsweep("verify", path, rc=3), bnsweep("verify", "--all", path, rc=3)
        self.assertNotIn("more (--all", long)
        self.assertEqual(len(re.findall("ERROR: seed", long)), 4)
        path = self.copy(weights_init_hash=put(slice(None), ""))
        self.assertRegex(bnsweep("verify", path, rc=3), "unit 0 is done, but its weights_init_hash is ''")
        self.assertLessEqual(len(short), len(long))


class Inert(StoreTest):
    """Settings without an effect that are rightly so: warnings."""

    ini = BASE + """\
steps = 20
optimizer = adam
lr = 3e-3
[grid]
bn_momentum = 0.03, 0.3
[arm plain]
[arm steps]
steps = 25, 26
[arm late]
schedule = step
lr_interval = 30, 40
[arm frozen]
freeze = conv1-conv2-linear
lr = 1e-3, 1e-4
[arm held]
freeze = conv1-conv2-linear
freeze_stats = live, held
[arm renorm]
norm = batchrenorm
renorm_warmup = 100, 200
[arm quiet]
noise = 0, 1e-300
[arm decoupled]
optimizer = adamw
weight_decay = 0
"""

    def test_warnings_only(self):
        text = bnsweep("verify", "--all", self.store)
        self.assertRegex(text, r"\n0 errors, [1-9]\d* warnings\n$")
        found = verdicts(text)
        for setting in "lr", "lr_interval", "renorm_warmup", "optimizer", "norm", "bn_momentum", "freeze_stats", "noise":
            self.assertRegex(found[setting][1], "no effect seen", setting)
        self.assertEqual(found["steps"], (6, "holds"))
        self.assertIn("their networks differ only after the last check", text)
        self.assertNotIn("ERROR", text)
        pairs = [line for line in text.splitlines() if "warning: bn_momentum" in line]
        self.assertTrue(all("(held, " in line or "(renorm, " in line for line in pairs), pairs)


class Diverged(StoreTest):
    ini = BASE + "steps = 20\noptimizer = sgd\n[grid]\nlr = 0.1, 1e30, 0\nbn_momentum = 0.03, 0.3\n"

    def test_no_alarm(self):
        self.assertIn("2 diverged", bnsweep("table", self.store) + bnsweep("status", self.store).replace("diverged  2", "2 diverged"))
        found = verdicts(bnsweep("verify", self.store))
        self.assertEqual(found["bn_momentum"], (2, "holds"))
        self.assertEqual(found["lr"], (2, "holds"))


unittest.main()

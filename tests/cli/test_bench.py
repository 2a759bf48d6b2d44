#!/usr/bin/python3
"""bnsweep bench: its figures fit each other, its phases are those of a step, bad settings are refused. No speed is demanded."""

import json
import re

from support import bnsweep, unittest

SIZES = ["channels=4-6", "image=8", "batch=8", "val_size=16"]
PARTS = ["data", "forward", "trace", "running", "backward", "optimizer", "cosines", "weights"]


def bench(*sets, seconds="0", rc=0, form=()):
    arguments = [part for one in [*SIZES, *sets] for part in ("--set", one)]
    return bnsweep("bench", *arguments, "--seconds", seconds, *form, rc=rc)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = json.loads(bench("trace_every=2", seconds="0.2", form=["--json"]))

    def ordered(self, spread):
        self.assertLess(0, spread["min"])
        self.assertLessEqual(spread["min"], spread["median"])
        self.assertLessEqual(spread["median"], spread["max"])

    def test_step(self):
        step = self.found["step"]
        self.assertGreaterEqual(step["steps"], 3)
        self.ordered(step["cpu_ms"])
        self.ordered(step["wall_ms"])
        conv1, conv2, linear = 8 * 8 * 9 * 3 * 4, 4 * 4 * 9 * 4 * 6, 6 * 10
        work = 2 * 8 * (2 * conv1 + 3 * conv2 + 3 * linear)
        self.assertAlmostEqual(step["gflop"], 1e-9 * work, places=15)
        self.assertAlmostEqual(step["gflops"], step["gflop"] / (1e-3 * step["cpu_ms"]["median"]), places=9)
        self.assertAlmostEqual(step["share_of_peak"], step["gflops"] / self.found["machine"]["fma_gflops"], places=9)

    def test_phases_add_up(self):
        phases = self.found["phases"]
        parts = {part["phase"]: part["ms"] for part in phases["parts"]}
        self.assertEqual(list(parts), PARTS)
        for name, milliseconds in parts.items():
            self.assertGreater(milliseconds, 0, name)
        self.assertGreaterEqual(phases["rest_ms"], 0)
        self.assertAlmostEqual(sum(parts.values()) + phases["rest_ms"], phases["whole_ms"], places=9)

    def test_convolutions_are_within_their_phases(self):
        parts = {part["phase"]: part["ms"] for part in self.found["phases"]["parts"]}
        convolutions = {(one["block"], one["what"]): one["ms"] for one in self.found["convolutions"]}
        self.assertEqual(len(convolutions), 6)
        self.assertEqual(convolutions.pop((1, "backward_data")), 0)  # nobody needs the images' gradient
        for what, milliseconds in convolutions.items():
            self.assertGreater(milliseconds, 0, what)
        forward = sum(ms for (_, what), ms in convolutions.items() if what == "forward")
        self.assertLess(forward, parts["forward"])
        self.assertLess(sum(convolutions.values()) - forward, parts["backward"])

    def test_check(self):
        check = self.found["check"]
        self.assertEqual(check["images"], 16)
        names = ["training_mode", "evaluation_mode", "further_momentum"]
        for name in names[:2]:
            self.ordered(check[name])
        self.assertLessEqual(0, check["further_momentum"]["min"])  # a difference, of very little here
        self.assertAlmostEqual(check["cpu_ms"], sum(check[name]["median"] for name in names), places=9)

    def test_machine_and_program(self):
        machine = self.found["machine"]
        self.assertIn(machine["fma_instructions"], ["avx512f", "avx2,fma", "baseline"])
        self.assertGreater(machine["fma_gflops"], 0)
        self.assertGreater(machine["triad_gbytes"], 0)
        self.assertGreater(self.found["memory_mbytes"], 1)
        self.assertTrue(self.found["engine"])
        for name in "engine", "blas", "instruction_set", "compiler_flags":
            self.assertTrue(self.found["program"][name], name)

    def test_settings(self):
        wanted = {"channels": "4-6", "image": "8", "batch": "8", "val_size": "16", "trace_every": "2", "optimizer": "adam", "norm": "batch"}
        self.assertLessEqual(wanted.items(), self.found["settings"].items())
        self.assertNotIn("steps", self.found["settings"])

    def test_text(self):
        text = bench()
        for wanted in "channels = 4-6", "OpenBLAS", "data generation", "backward", "4x4, 4 to 6, backward_data", "a check of 16 images":
            self.assertIn(wanted, text)
        self.assertNotIn("8x8, 3 to 4, backward_data", text)
        rows = re.findall(r"^(data|forward|lag|running|backward|optimizer|cosines|weights|rest)\b.* ([0-9.]+)%$", text, re.M)
        shares = [float(share) for _, share in rows]
        self.assertEqual(len(shares), len(PARTS) + 1)
        self.assertAlmostEqual(sum(shares), 100, delta=1)


class SameStep(unittest.TestCase):
    """The program itself compares the weights after steps taken in phases with those of real steps, and fails where they differ."""

    def test_kinds_of_step(self):
        for sets in (["norm=batchrenorm", "optimizer=adamp", "renorm_warmup=1", "radial=project"], ["norm=none", "optimizer=sgd"],
                     ["freeze=conv1", "freeze_from=4", "freeze_stats=held", "ema=always", "schedule=cosine"]):
            with self.subTest(sets=sets):
                self.assertGreaterEqual(json.loads(bench(*sets, form=["--json"]))["step"]["steps"], 3)


class Refused(unittest.TestCase):
    def refuse(self, words, *sets):
        output = bench(*sets, rc=2)
        self.assertEqual(output, "")
        self.assertIn(words, output.error)

    def test_settings(self):
        self.refuse("did you mean 'lr'", "lrr=1")
        self.refuse("key=value is needed", "lr")
        self.refuse("--set lr=fast: 'fast' is not a number", "lr=fast")
        self.refuse("norm=best", "norm=best")
        self.refuse("--set momentum: it is read only where optimizer = sgd", "momentum=0.9")
        self.refuse("as many steps as --seconds", "steps=5")
        self.refuse("batch is set twice", "batch=9")
        self.refuse("8 groups do not divide the 4 channels", "norm=group")
        self.refuse("training diverges with these settings", "lr=1e30")

    def test_command_line(self):
        self.assertIn("did you mean '--json'", bnsweep("bench", "--jsno", rc=2).error)
        self.assertIn("a number from 0", bnsweep("bench", "--seconds", "-1", rc=2).error)


if __name__ == "__main__":
    unittest.main()

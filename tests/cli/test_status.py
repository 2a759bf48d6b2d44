#!/usr/bin/python3
"""bnsweep status: counts and reasons, and a run that is watched, killed and finished."""

import json
import signal
import subprocess
import time

from support import BASE, ENVIRONMENT, PACE_SHIM, PROGRAM, StoreTest, bnsweep, h5py, put, unittest


class Ended(StoreTest):
    def status(self, store):
        return json.loads(bnsweep("status", "--json", store))

    def test_done(self):
        status = self.status(self.store)
        self.assertEqual(status["units"], 8)
        self.assertEqual(status["counts"], {"pending": 0, "running": 0, "done": 8, "diverged": 0, "failed": 0})
        self.assertEqual(status["attempts"], 8)
        self.assertEqual(status["named"], [])
        self.assertEqual(status["writer"]["state"], "none")
        self.assertEqual(status["journal"], {"exists": False, "problem": None, "waiting": 0, "torn_bytes": 0})
        text = bnsweep("status", self.store)
        self.assertRegex(text, r"\n  done +8\n")
        self.assertIn("writer: none", text)

    def test_failures_have_reasons(self):
        store = self.copy(status=lambda d: (put(2, 4)(d), put(5, 3)(d)), reason=put(2, "killed by signal 9"), attempts=put(2, 3))
        status = self.status(store)
        self.assertEqual([(unit["unit"], unit["status"]) for unit in status["named"]], [(2, "failed"), (5, "diverged")])
        self.assertEqual(status["named"][0]["reason"], "killed by signal 9")
        with h5py.File(store) as file:
            self.assertEqual(status["named"][0]["bn_momentum"], file["bn_momentum"][2])
            self.assertEqual(status["named"][0]["seed"], file["seed"][2])
        self.assertEqual([status["attempts"], status["counts"]["failed"]], [10, 1])
        text = bnsweep("status", store)
        self.assertRegex(text, r"\nfailed:\n.*\n +2 .* 3 +2 of 2  killed by signal 9\n")
        self.assertIn("1 units were started more than once", text)

    def test_watch_ends_where_nothing_is_left(self):
        lines = bnsweep("status", "--watch", "--json", self.store).splitlines()
        self.assertEqual(len(lines), 1)
        self.assertEqual(json.loads(lines[0])["counts"]["done"], 8)

    def test_damaged_journal_is_said(self):
        store = self.copy()
        with open(store + ".journal", "wb") as file:
            file.write(b"no journal at all" * 10)
        self.assertIsNotNone(self.status(store)["journal"]["problem"])
        self.assertIn("journal: DAMAGED", bnsweep("status", store))


class Running(StoreTest):
    ini = BASE + "steps = 4000\noptimizer = adam\nlr = 1e-3\n[grid]\nbn_momentum = 0.03, 0.3\n"

    @classmethod
    def train(cls, ini, store, *arguments, rc=0):
        with open(cls.path("sweep.ini"), "w") as file:
            file.write(ini)
        # 20 ms a step or more, as tests/support/pace_shim.c does it: 80 s, longer than anything here waits.
        slow = {"LD_PRELOAD": PACE_SHIM, "PACE_WHILE": cls.path("sweep.ini"), "PACE_US": "20000"}
        cls.run_ = subprocess.Popen([PROGRAM, "run", cls.path("sweep.ini"), "-o", store], env={**ENVIRONMENT, **slow},
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.run_.kill)

    def wait_for(self, condition):
        for _ in range(600):
            done = subprocess.run([PROGRAM, "status", "--json", self.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode == 0 and condition(status := json.loads(done.stdout)):
                return status
            self.assertIsNone(self.run_.poll(), "the run has ended")
            time.sleep(0.1)
        self.fail("waited in vain")

    def test_live_then_killed(self):
        status = self.wait_for(lambda s: s["counts"]["running"] == 2 and s["named"][0]["checks"] > 0)
        self.assertEqual(status["writer"]["state"], "active")
        self.assertIn(f"process {self.run_.pid}", status["writer"]["note"])
        self.assertEqual([unit["bn_momentum"] for unit in status["named"]], [0.03, 0.3])
        self.assertEqual([unit["arm"] for unit in status["named"]], ["default", "default"])
        self.assertLess(status["named"][0]["checks"], status["checks"])
        later = self.wait_for(lambda s: s["named"][0]["checks"] > status["named"][0]["checks"])
        self.assertGreater(later["journal"]["waiting"] + later["named"][0]["checks"], status["named"][0]["checks"])
        self.assertIn("\nrunning now:\n", bnsweep("status", self.store))
        self.assertIn("0 of 1: 1 ", bnsweep("table", self.store))

        self.run_.send_signal(signal.SIGKILL)
        self.run_.wait()
        status = json.loads(bnsweep("status", "--json", self.store))
        self.assertEqual(status["writer"]["state"], "none")
        self.assertEqual(status["counts"]["running"], 2)
        self.assertGreater(status["journal"]["waiting"], 0)
        self.assertIn("running when the last writer ended", bnsweep("status", self.store))


unittest.main()

#!/usr/bin/python3
"""What all reading commands have in common: help, refusals, closed pipes, and that they leave no trace."""

import os
import signal
import subprocess
import time
from pathlib import Path

from support import ENVIRONMENT, PROGRAM, StoreTest, bnsweep, h5py, unittest

COMMANDS = {"status": [], "table": [], "show": ["0"], "verify": [], "diff": ["SELF"], "export": ["--csv", "OUT"]}


class Reading(StoreTest):
    def arguments(self, command, store):
        rest = [store if word == "SELF" else self.path("out") if word == "OUT" else word for word in COMMANDS[command]]
        return [command, store, *rest]

    def test_help(self):
        listed = bnsweep("--help")
        for command in COMMANDS:
            text = bnsweep(command, "--help")
            self.assertTrue(text.startswith(f"usage: bnsweep {command} "))
            self.assertIn(f"\n  {command} ", listed)
            self.assertLessEqual(max(map(len, text.splitlines())), 130, command)

    def test_no_store(self):
        missing = self.path("missing.h5")
        foreign = self.path("foreign.h5")
        with h5py.File(foreign, "w") as file:
            file["loss"] = [1.0]
        text = self.path("text.h5")
        with open(text, "w") as file:
            file.write("no store\n" * 100)
        for command in COMMANDS:
            for path in missing, foreign, text, self.folder:
                output = bnsweep(*self.arguments(command, path), rc=2)
                self.assertIn(path, output.error, command)
                self.assertEqual(output, "", command)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_bad_usage(self):
        for command in COMMANDS:
            self.assertIn("an argument is missing", bnsweep(command, rc=2).error)
            self.assertIn("there is no option", bnsweep(*self.arguments(command, self.store), "--nonsense", rc=2).error)
            self.assertIn("one argument too many", bnsweep(*self.arguments(command, self.store), "x", "y", rc=2).error)

    def test_closed_pipe_is_quiet(self):
        for command in "status", "table", "show", "verify":
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([PROGRAM, *self.arguments(command, self.store)], stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT)
            os.close(writer)
            self.assertEqual(done.stderr, b"", command)
            self.assertLess(done.returncode, 0, command)

    def test_full_disk_is_said(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "table", self.store], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not write", done.stderr)
        for word in "--help", "--version":
            with open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([PROGRAM, word], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT).returncode, 1)

    def test_crash_is_explained(self):
        """Caught while it writes into a pipe that nobody empties."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        process = subprocess.Popen([PROGRAM, "keys"], stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT)
        while Path(f"/proc/{process.pid}/stat").read_text().split()[2] != "S":
            time.sleep(0.01)
        process.send_signal(signal.SIGSEGV)
        self.assertIn(b"a damaged store", process.communicate()[1])
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        os.close(reader)
        os.close(writer)

    def test_nothing_is_touched(self):
        before = {name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder)}
        with open(self.store, "rb") as file:
            content = file.read()
        for command in "status", "table", "show", "verify", "diff":
            bnsweep(*self.arguments(command, self.store))
        self.assertEqual(before, {name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder)})
        with open(self.store, "rb") as file:
            self.assertEqual(content, file.read())


unittest.main()

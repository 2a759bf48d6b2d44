#!/usr/bin/python3
"""bnsweep jobscript: the numbers it fills in, the script they are filled into, and what it refuses."""

import os
import re
import subprocess

from support import PROGRAM, TINY, StoreTest, bnsweep, unittest

TEMPLATE = os.path.join(os.environ["BNSWEEP_SOURCE"], "jobscripts", "slurm.sbatch")


class Jobscript(StoreTest):
    def setUp(self):
        with open(self.path("new.ini"), "w") as file:
            file.write(TINY.replace("name = tiny", "name = new"))

    def script(self, *arguments, **options):
        return bnsweep("jobscript", self.path("new.ini"), "--store", self.path("new.h5"), *arguments, **options)

    def options(self, script):
        return dict(re.findall(r"^#SBATCH --([a-z-]+)=(\S+)", script, re.M))

    def test_numbers(self):
        script = self.script("--nodes", 3, "--cores", 5, "--time", "2:00:00")
        options = self.options(script)
        self.assertEqual([options[key] for key in ("nodes", "ntasks-per-node", "time", "signal", "job-name")],
                         ["3", "5", "2:00:00", "B:USR1@180", "new"])
        memory = int(options["mem-per-cpu"].rstrip("M"))
        self.assertTrue(150 < memory < 600, memory)
        self.assertIn("8 of 8 units to train in 4 trajectories, on 15 workers (3 nodes, 5 a node)", script)
        self.assertIn("it fits into one job of 2:00:00", script)
        self.assertIn("only 4 trajectories: 11 of the workers will have nothing to do", script)
        for line in script.error.splitlines():
            self.assertIn("# " + line, script)
        self.assertFalse(os.path.exists(self.path("new.h5")))

    def test_is_the_template_but_for_its_lines(self):
        """Nothing else differs, and what is written is a sound script."""
        script = self.script("--cores", 2, "--launcher", "srun", "--sbatch=--partition=long", "--sbatch", "--account=me")
        with open(TEMPLATE) as file:
            template = file.read().splitlines()
        same = [line for line in script.splitlines() if line in template]
        beginnings = ("#   sbatch ", "#SBATCH --job-name", "#SBATCH --ntasks", "#SBATCH --mem", "#SBATCH --time", "program=", "arguments=",
                      "launcher=", "requeues=", "grace=", "#SBATCH --nodes", "#SBATCH --signal", "#SBATCH --no-kill")
        self.assertEqual([line for line in template if not line.startswith(beginnings)],
                         [line for line in same if not line.startswith(beginnings) and line != "#"])
        self.assertIn("\n#SBATCH --partition=long\n#SBATCH --account=me\n", script)
        self.assertIn("\nlauncher=${BNSWEEP_LAUNCHER:-srun}\n", script)
        checked = subprocess.run(["shellcheck", "-"], input=script, text=True, stdout=subprocess.PIPE)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_words_reach_the_program_as_they_are(self):
        """Spaces, quotes and dollars in paths and settings: the shell that reads the script sees them again."""
        folder = self.path("it's a $HOME \"ü\"")
        os.makedirs(folder, exist_ok=True)
        ini, store = os.path.join(folder, "a b.ini"), os.path.join(folder, "c d.h5")
        os.replace(self.path("new.ini"), ini)
        script = bnsweep("jobscript", ini, "--store", store, "--cores", 2, "--set", "steps=30", "--no-fuse")
        lines = "\n".join(line for line in script.splitlines() if line.startswith(("program=", "arguments=")))
        shown = subprocess.run(["bash", "-c", lines + '\nprintf "%s\\n" "$program" "${arguments[@]}"', "-", "extra"],
                               stdout=subprocess.PIPE, text=True).stdout.splitlines()
        self.assertEqual(shown, [os.path.realpath(PROGRAM), os.path.realpath(ini), "-o", os.path.realpath(folder) + "/c d.h5", "--set",
                                 "steps=30", "--no-fuse", "extra"])

    def test_time_is_chosen_and_requeues_are_said(self):
        limit = self.options(self.script("--cores", 2))["time"]
        self.assertEqual(limit, "0:15:00")
        many = [word for key in ("first_check", "check_every", "trace_every") for word in ("--set", key + "=100000000")]
        many += ["--set", "steps=1000000000", "--set", "batch=256"]  # days, on the fastest machine too
        long = self.script("--cores", 2, "--time", "0:30:00", *many)
        times = int(re.search(r"in jobs of 0:30:00 it queues itself again about (\d+) times", long)[1])
        self.assertGreater(times, 5)
        self.assertGreater(int(re.search(r"^requeues=(\d+) ", long, re.M)[1]), times)
        self.assertEqual(self.options(self.script("--cores", 2, *many))["time"], "1-00:00:00")

    def test_times_as_slurm_writes_them(self):
        for text, limit in {"90": "1:30:00", "90:30": "1:31:00", "0:90:00": "1:30:00", "1-12": "1-12:00:00", "1-12:30": "1-12:30:00",
                            "2-0:0:1": "2-00:01:00"}.items():
            self.assertEqual(self.options(self.script("--cores", 2, "--time", text))["time"], limit)

    def test_lead(self):
        script = self.script("--cores", 2, "--lead", 300, "--time", 60)
        self.assertEqual(self.options(script)["signal"], "B:USR1@300")
        self.assertIn("\ngrace=240 ", script)

    def test_nothing_left(self):
        script = bnsweep("jobscript", self.path("sweep.ini"), "--store", self.store, "--cores", 2)
        self.assertIn("nothing is left to do", script.error)

    def test_file(self):
        path = self.path("job.sbatch")
        self.assertEqual(self.script("--cores", 2, "-o", path), "")
        self.assertTrue(os.access(path, os.X_OK))
        with open(path) as file:
            before = file.read()
        self.assertIn(f"#   sbatch {path}\n", before)
        self.assertIn("is there already", self.script("--cores", 2, "-o", path, rc=2).error)
        with open(path) as file:
            self.assertEqual(file.read(), before)
        self.assertIn("could not make", self.script("-o", self.path("no/such/folder.sbatch"), rc=2).error)

    def test_refused(self):
        for arguments, words in {
            ("--time", "soon"): "--time is 'soon'",
            ("--time", "0"): "--time is '0'",
            ("--time", "1:2:3:4"): "--time is '1:2:3:4'",
            ("--time", "1-"): "--time is '1-'",
            ("--time", "5"): "leaves no time to train in",
            ("--nodes", "0"): "--nodes is '0'",
            ("--nodes", "many"): "--nodes is 'many'",
            ("--nodes", "999999"): "at most",
            ("--cores", "-3"): "--cores is '-3'",
            ("--lead", "20"): "--lead is 20",
            ("--launcher", "ssh"): "mpirun and srun are possible",
            ("--sbatch", "partition=long"): "begins with --",
            ("--nods", "3"): "did you mean '--nodes'",
            ("--set", "lrr=1"): "lrr",
        }.items():
            error = self.script(*arguments, rc=2)
            self.assertIn(words, error.error)
            self.assertEqual(error, "")
        self.assertIn("another measure", bnsweep("jobscript", self.path("sweep.ini"), "--store", self.store, "--set", "check_every=5",
                                                 rc=2).error)
        bnsweep("jobscript", self.path("missing.ini"), rc=2)


class Left(StoreTest):
    """bnsweep run --left, by which the job scripts decide."""

    def test_left(self):
        done = bnsweep("run", "--left", self.path("sweep.ini"), "-o", self.store)
        self.assertEqual(done, "left 0, failed 0, of 8 units; writer none\n")
        more = bnsweep("run", "--left", self.path("sweep.ini"), "-o", self.store, "--set", "seed=0..2", "-j", 4, rc=75)
        self.assertEqual([more, more.error], ["left 4, failed 0, of 12 units; writer none\n", ""])
        new = bnsweep("run", "--left", self.path("sweep.ini"), "-o", self.path("none.h5"), rc=75)
        self.assertEqual(new, "left 8, failed 0, of 8 units; writer none\n")
        self.assertFalse(os.path.exists(self.path("none.h5")))

    def test_failed(self):
        def fail(dataset):
            dataset[2] = 4

        store = self.copy(status=fail)
        for arguments in (), ("--retry-failed",):
            failed = bnsweep("run", "--left", self.path("sweep.ini"), "-o", store, *arguments, rc=1)
            self.assertEqual(failed, "left 0, failed 1, of 8 units; writer none\n")

    def test_refused(self):
        refused = bnsweep("run", "--left", self.path("sweep.ini"), "-o", self.store, "--set", "check_every=5", rc=2)
        self.assertEqual(refused, "")
        self.assertIn("check_every", refused.error)


unittest.main()

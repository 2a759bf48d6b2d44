#!/usr/bin/python3
"""A store of 10,000 units, 2.6 GB: the loader's table is the program's, and fits into 500 MB."""

import tempfile
from pathlib import Path

from support import ANALYSIS, bnsweep, main, np, rows, subprocess, sys

import synthetic

MEMORY = 500 << 20
CODE = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import bnstore
print(bnstore.table(bnstore.open(sys.argv[2])).to_csv(index=False, float_format="%.17g"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10, file=sys.stderr)
"""


def test_large():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.h5"
        synthetic.make(path, 10000)
        done = subprocess.run([sys.executable, "-B", "-c", CODE, ANALYSIS, path], capture_output=True, text=True, check=True)
        assert int(done.stderr) < MEMORY
        ours, theirs = rows(done.stdout), rows(bnsweep("table", "--csv", path))
        assert len(ours) == len(theirs) == 30
        for one, other in zip(ours, theirs):
            assert one["arm"] == other["arm"]
            for name in one:
                if name != "arm":
                    np.testing.assert_allclose(float(one[name] or "nan"), float(other[name] or "nan"), rtol=1e-9, err_msg=name)


if __name__ == "__main__":
    main(__file__)

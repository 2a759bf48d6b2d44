#!/usr/bin/python3
"""Make one HTML file of a store: which arm's running statistics are stale, why and what fixes it, with tables and plots to look into.

usage: report.py STORE [-o report.html] [--chart-js FILE]
The file needs no network and no other file. It works while the sweep runs, on what is published. The plots are drawn by Chart.js
(Debian: libjs-chart.js), which the file contains.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import needs

needs.modules("numpy", "pandas", "xarray", "h5py")

import bnstore
import report_page

CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"


def fail(message: str, status: int) -> int:
    print(f"report.py: {message}", file=sys.stderr)
    return status


def write(path: Path, page: str) -> None:
    """Write the page beside its place and rename it there, so that no reader sees half of it. Raises OSError."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(page)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("-o", "--output", type=Path, help="the file to write (the store's name with .html, in this folder)")
    parser.add_argument("--chart-js", default=CHART_JS, metavar="FILE", help=f"Chart.js 3, the minified bundle ({CHART_JS})")
    options = parser.parse_args()
    output = options.output or Path(Path(options.store).stem + ".html")
    try:
        chart_js = Path(options.chart_js).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return fail(f"no Chart.js at {options.chart_js}; install libjs-chart.js (Debian's), or name its chart.min.js with --chart-js", 2)
    if "Chart.js v3" not in chart_js[:200] or "</script" in chart_js.lower():
        return fail(f"{options.chart_js}: not the minified bundle of Chart.js 3", 2)
    if output.exists() and os.path.exists(options.store) and os.path.samefile(output, options.store):
        return fail(f"{output}: that is the store; name another file with -o", 2)
    try:
        with bnstore.open(options.store) as store:
            page = report_page.make(store, os.path.basename(options.store), chart_js)
    except bnstore.StoreError as error:
        return fail(str(error), 2)
    try:
        write(output, page)
    except OSError as error:
        return fail(f"{output}: cannot be written: {error.strerror}", 1)
    print(f"{output}: {len(page.encode('utf-8', 'backslashreplace')) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

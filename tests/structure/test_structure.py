#!/usr/bin/python3
"""The architecture's law: who may include whom, who alone may use a library, and which names an object may export.

Reads the sources under BNSWEEP_SOURCE and the library under BNSWEEP_BIN (both set by ctest).
"""
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE, BUILD = Path(os.environ["BNSWEEP_SOURCE"]), Path(os.environ["BNSWEEP_BIN"])

# What each folder may include besides itself.
ALLOWED = {
    "base": set(),
    "core": {"base"},
    "measure": {"core", "base"},
    "sweep": {"core", "base"},
    "run": {"measure", "core", "base", "sweep"},
    "store": {"measure", "core", "base", "sweep"},
    "mpi": {"run", "measure", "core", "base", "sweep"},
    "cli": {"mpi", "run", "measure", "core", "base", "sweep", "store"},
}
# The same for the folders of src/cli; what is in cli itself may include them all, and none of them may include it.
ALLOWED_IN_CLI = {
    "text": set(),
    "origin": set(),
    "plan": {"origin", "text"},
    "read": {"origin", "text"},
    "proof": {"read", "origin", "text"},
    "bench": {"origin", "text"},
}
# Header of a library -> the files that may include it.
ALONE = {
    r"cblas\.h": re.compile(r"src/core/gemm\.c$"),
    r"mpi\.h": re.compile(r"src/mpi/comm\.c$"),
    r"ini\.h": re.compile(r"src/sweep/inifile\.c$"),
    r"hdf5(_hl)?\.h": re.compile(r"src/store/[a-z0-9_]+\.[ch]$"),
    r"Random123/.*": re.compile(r"src/core/rng\.c$"),
    r"xxhash\.h": re.compile(r"src/base/hash\.c$"),
}

GENERATED = {"build_info.h", "build_commit.h", "jobscript_text.h"}

problems = []


def sources():
    for top in ("src", "include"):
        yield from sorted(p for p in (SOURCE / top).rglob("*.[ch]"))


def folder_of(path):
    parts = path.relative_to(SOURCE).parts
    return parts[1] if parts[0] == "src" else parts[2]


def check_includes(path):
    name, folder = str(path.relative_to(SOURCE)), folder_of(path)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not found:
            continue
        header = found.group(1)
        ours = re.match(r"bnsweep/([a-z]+)/", header)
        if ours and ours.group(1) != folder and ours.group(1) not in ALLOWED[folder]:
            problems.append(f"{name}:{number}: {folder} must not include {header}")
        for library, may in ALONE.items():
            if re.fullmatch(library, header) and not may.search(name):
                problems.append(f"{name}:{number}: {header} is not for this file")


def check_cli(path):
    """Headers of the program's own folders are named from src/cli, except within one folder."""
    name, room = str(path.relative_to(SOURCE)), path.parent.name
    if path.parent.parent != SOURCE / "src/cli":
        return 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*"(?:([a-z]+)/)?([a-z0-9_]+\.h)"', line)
        if not found:
            continue
        other, header = found.groups()
        if not (other in ALLOWED_IN_CLI.get(room, set()) if other else (path.parent / header).exists() or header in GENERATED):
            problems.append(f"{name}:{number}: cli/{room} must not include {found.group(0)}")
    return 1


def check_exit(path):
    name = str(path.relative_to(SOURCE))
    if name == "src/cli/launch.c":  # a forked child that could not become mpirun
        return
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), path.read_text(), flags=re.S)
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(_?exit|_Exit|abort|quick_exit)\s*\(", re.sub(r'"(\\.|[^"\\])*"', '""', line)):
            problems.append(f"{name}:{number}: ends the process; library code returns a status")


def check_symbols():
    objects = [BUILD / "libbnsweep.a", *sorted((BUILD / "CMakeFiles/bnsweep_program.dir").rglob("*.o"))]
    listing = subprocess.run(["nm", "-A", "--defined-only", "--extern-only", *map(str, objects)], capture_output=True, text=True, check=True)
    count = 0
    for line in listing.stdout.splitlines():
        found = re.match(r".*[:/]([a-z0-9_]+)\.c\.o:\s*[0-9a-f]+ [A-Z] (\S+)", line)
        if not found or found.group(2).startswith("__"):  # __asan_..., __odr_asan...: the sanitizers' own
            continue
        count += 1
        module, symbol = found.groups()
        if symbol != module and not symbol.startswith(module + "_"):
            problems.append(f"{module}.o exports {symbol}")
    if count < 500:
        problems.append(f"only {count} symbols were found in {objects}: the check does not see them")


def main():
    files = list(sources())
    if len(files) < 50:
        problems.append(f"only {len(files)} sources were found under {SOURCE}: the check does not see them")
    for path in files:
        check_includes(path)
        check_exit(path)
    rooms = sum(check_cli(path) for path in files)
    if rooms < 50:
        problems.append(f"only {rooms} sources were found in the folders of src/cli: the check does not see them")
    check_symbols()
    print("\n".join(problems) or f"{len(files)} files keep the law")
    return 1 if problems else 0


sys.exit(main())

"""Says in one line which Debian packages are missing, instead of a traceback. Import it before numpy and the others."""

import importlib.util
import os
import sys

# Module -> Debian package.
PACKAGES = {
    "numpy": "python3-numpy",
    "pandas": "python3-pandas",
    "xarray": "python3-xarray",
    "h5py": "python3-h5py",
    "matplotlib": "python3-matplotlib",
    "torch": "python3-torch",
}


def modules(*names: str) -> None:
    """End the program with status 2 and one line on standard error unless all modules `names` (keys of PACKAGES) can be imported."""
    missing = [PACKAGES[name] for name in names if importlib.util.find_spec(name) is None]
    if missing:
        program = os.path.basename(sys.argv[0]) or "python"
        print(f"{program}: {sys.executable} lacks modules; install {' '.join(missing)} (Debian's, for /usr/bin/python3)", file=sys.stderr)
        raise SystemExit(2)

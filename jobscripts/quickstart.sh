#!/usr/bin/env bash
# Installs (as root), builds, and runs a small sweep on all cores; shows its table and where the store is.
# Usage: jobscripts/quickstart.sh [FILE.ini]   (default: sweeps/quick.ini)
set -euo pipefail
cd "$(dirname "$0")/.."
.ci/install

cmake --preset release -DBUILD_TESTING=OFF -Wno-dev >/dev/null
cmake --build --preset release
build/release/src/bnsweep run "${1:-sweeps/quick.ini}" -j "$(nproc)"

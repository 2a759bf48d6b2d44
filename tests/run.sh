#!/usr/bin/env bash
# Installs (as root), builds and runs all tests: everything in release, the unit tests again under the sanitizers.
# Arguments are handed to ctest, for instance: tests/run.sh -R golden
set -euo pipefail
cd "$(dirname "$0")/.."
.ci/install test

# Open MPI refuses root and more ranks than cores unless it is told that both are meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

for preset in ci ci-debug; do
  cmake --preset "$preset" -Wno-dev >/dev/null
  cmake --build --preset "$preset"
done
ctest --preset ci --no-tests=error -LE long -j 2 "$@"
ctest --preset ci-debug --no-tests=error -j 2 "$@"

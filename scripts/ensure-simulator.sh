#!/bin/sh
# Builds and installs simulator and driver if Rust's cargo and a C compiler exist. Without them,
# everything but predictions and trials on installed libraries works. Nothing is done if the build
# is up to date.
set -eu
stamp=.venv/.simulator
native=$(dirname "$0")/../native

if [ -e "$stamp" ] && [ -z "$(find "$native" -path "$native/target" -prune -o -newer "$stamp" -type f -print)" ]; then
    exit 0
fi
if ! command -v cargo >/dev/null || ! command -v cc >/dev/null; then
    echo "setup: cargo or a C compiler is missing, so lsmtune has no simulator and no driver; trials \
can only run db_bench" >&2
    exit 0
fi
echo "setup: building the simulator and the driver (about a minute)" >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall \
    "$native/lsmsim-py"
touch "$stamp"

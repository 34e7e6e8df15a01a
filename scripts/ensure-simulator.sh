#!/bin/sh
# Builds and installs simulator and driver if Rust's cargo is new enough and a C compiler exists.
# Without them, everything but predictions and trials on installed libraries works. Nothing is done
# if the build is up to date.
set -eu
stamp=.venv/.simulator
native=$(dirname "$0")/../native

if [ -e "$stamp" ] && [ -z "$(find "$native" -path "$native/target" -prune -o -newer "$stamp" -type f -print)" ]; then
    exit 0
fi
problem=$("$(dirname "$0")/cargo-problem.sh")
if [ -n "$problem" ]; then
    echo "setup: cannot build the simulator and the driver, without which trials only run db_bench: \
$problem" >&2
    exit 0
fi
echo "setup: building the simulator and the driver (about a minute)" >&2
install() { .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }
# Only this build needs maturin, so it does not stay in .venv.
builder=$(mktemp -d)
trap 'rm -rf "$builder"' EXIT
trap 'exit 130' INT TERM
install --require-hashes --target "$builder" -r requirements-native.lock
export PATH="$builder/bin:$PATH" PYTHONPATH="$builder"
install --force-reinstall --no-deps --no-build-isolation "$native/lsmsim-py"
touch "$stamp"

#!/bin/sh
# Builds the simulator's wheel and installs it beside lsmtune, where Rust's cargo is there; without
# it everything else works. What is up to date is left alone.
set -eu
stamp=.venv/.simulator
native=$(dirname "$0")/../native

if [ -e "$stamp" ] && [ -z "$(find "$native" -path "$native/target" -prune -o -newer "$stamp" -type f -print)" ]; then
    exit 0
fi
if ! command -v cargo >/dev/null || ! command -v cc >/dev/null; then
    echo "no cargo or no C compiler here: lsmtune is installed without its simulator" >&2
    exit 0
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall \
    "$native/lsmsim-py"
touch "$stamp"

#!/bin/sh
# Builds the wheels of lsmtune and of its native module into dist/, and checks what is in them.
set -eu
bin=$1
root=$PWD
native=$root/native

problem=$("$(dirname "$0")/cargo-problem.sh")
if [ -n "$problem" ]; then
    echo "wheels: $problem" >&2
    exit 1
fi
"$bin/python" -m pip install --quiet --disable-pip-version-check \
    --require-hashes -r requirements-wheels.lock

# Messages of panics name source files. Without this, they would name folders of this machine.
cargo fetch --quiet --locked --manifest-path "$native/Cargo.toml" # makes these folders
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$native=native"
for folder in "$sources"/*; do
    CARGO_ENCODED_RUSTFLAGS="$CARGO_ENCODED_RUSTFLAGS$(printf '\037')--remap-path-prefix=$folder=crates"
done
export CARGO_ENCODED_RUSTFLAGS

rm -f dist/lsmtune-*.whl dist/lsmsim-*.whl
"$bin/python" -m hatchling build --target wheel --directory dist
cd "$native/lsmsim-py" # maturin runs `python -m ziglang`, so the environment comes first on PATH
PATH="$root/$bin:$PATH" maturin build --quiet --locked --release --zig \
    --compatibility manylinux_2_28 --out "$root/dist"
cd "$root"
"$bin/python" scripts/check_wheels.py dist/*.whl

#!/bin/sh
# Prints why cargo cannot build the Rust parts on this machine, and what to do. Prints nothing if it
# can.
set -eu
needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "$0")/../native/Cargo.toml")

if ! command -v cargo >/dev/null; then
    echo "cargo is missing; install Rust $needed or newer, for example with rustup"
    exit 0
fi
found=$(cargo --version 2>/dev/null) || found=
found=${found#cargo } # "cargo 1.85.0 (d73d2caf9 2024-12-31)"
found=${found%% *}
if [ -z "$found" ]; then
    echo "\`cargo --version\` fails; install Rust $needed or newer, for example with rustup"
elif [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -n 1)" != "$needed" ]; then
    echo "cargo $found is too old, Rust $needed or newer is needed; run \`rustup update\`, or install \
Rust with rustup"
elif ! command -v cc >/dev/null; then
    echo "cc is missing; install a C compiler (Debian: sudo apt-get install gcc libc6-dev)"
fi

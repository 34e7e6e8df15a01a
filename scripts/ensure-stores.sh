#!/bin/sh
# Builds the driver of the embedded stores as the named file, with the system's RocksDB, LevelDB and
# LMDB. Nothing is done if the file is up to date.
set -eu
program=$1
sources=$(dirname "$0")/../src/lsmtune/engines/embedded

if [ -x "$program" ] && [ -z "$(find "$sources" -name '*.[ch]' -newer "$program")" ]; then exit 0; fi

usable() {
    command -v cc >/dev/null && printf '%s\n' '#include <rocksdb/c.h>' \
        '#include <leveldb/c.h>' '#include <lmdb.h>' | cc -fsyntax-only -xc - 2>/dev/null
}

if ! usable; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "setup: the embedded stores need a C compiler and the headers of RocksDB, LevelDB and \
LMDB; install what is missing (Debian: sudo apt-get install gcc libc6-dev librocksdb-dev \
libleveldb-dev liblmdb-dev)" >&2
        exit 1
    fi
    echo "setup: installing a C compiler, RocksDB, LevelDB and LMDB" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        gcc libc6-dev librocksdb-dev libleveldb-dev liblmdb-dev >/dev/null
fi

echo "setup: building the driver of the embedded stores" >&2
cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -o "$program" "$sources"/*.c \
    -lrocksdb -lleveldb -llmdb -lpthread

#!/bin/sh
# Makes sure that a db_bench exists: LSMTUNE_DB_BENCH, the one on PATH, or the system's package.
set -eu
program=${LSMTUNE_DB_BENCH:-db_bench}

if command -v "$program" >/dev/null; then exit 0; fi
if [ "$program" = db_bench ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing db_bench from the system's packages (rocksdb-tools)" >&2
    apt-get update -qq && apt-get install -y -qq rocksdb-tools >/dev/null
    if command -v "$program" >/dev/null; then exit 0; fi
fi
echo "setup: RocksDB's db_bench not found: $program; install it (Debian: sudo apt-get install \
rocksdb-tools) or set LSMTUNE_DB_BENCH to its path" >&2
exit 1

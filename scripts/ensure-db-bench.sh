#!/bin/sh
# Makes sure that a db_bench exists: LSMTUNE_DB_BENCH, the one on PATH, or the system's package.
# A machine with an installed version of RocksDB, and the driver that runs it, can do without; $1 is
# lsmtune.
set -eu
lsmtune=$1
program=${LSMTUNE_DB_BENCH:-db_bench}
tried=.venv/.db_bench_tried
how="install it (Debian: sudo apt-get install rocksdb-tools) or set LSMTUNE_DB_BENCH to its path"

has_rocksdb() {
    # ensure-simulator.sh makes this file when it has built the driver.
    [ -e .venv/.simulator ] && "$lsmtune" engines --json | grep -q '"default": true'
}

if command -v "$program" >/dev/null; then exit 0; fi
if [ -e "$tried" ] && has_rocksdb; then exit 0; fi
touch "$tried"
if [ "$program" = db_bench ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing db_bench from the system's packages (rocksdb-tools)" >&2
    if apt-get update -qq && apt-get install -y -qq rocksdb-tools >/dev/null; then
        if command -v "$program" >/dev/null; then exit 0; fi
    fi
fi
if has_rocksdb; then
    echo "setup: db_bench not found: $program; only the workloads mixgraph and trace, and \
lsmtune reproduce, need it: $how" >&2
    exit 0
fi
echo "setup: RocksDB's db_bench not found: $program; $how" >&2
exit 1

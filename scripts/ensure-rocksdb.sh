#!/bin/sh
# Installs the usual version of RocksDB; $1 is lsmtune. If that is not possible here, for example
# without network, lsmtune says why, and ensure-db-bench.sh decides whether db_bench is enough.
set -eu
refused=2

"$1" engines install rocksdb >/dev/null || [ $? = "$refused" ]

#!/bin/sh
# Installs the libraries of LevelDB and LMDB, which the driver loads. Nothing is done if the system
# has them.
set -eu
python=$1

usable() {
    "$python" -c 'import ctypes; [ctypes.CDLL(name) for name in ("libleveldb.so.1d", "liblmdb.so.0")]' \
        2>/dev/null
}

if usable; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "setup: install the libraries of LevelDB and LMDB (Debian: sudo apt-get install \
libleveldb1d liblmdb0)" >&2
    exit 1
fi
echo "setup: installing LevelDB and LMDB" >&2
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    libleveldb1d liblmdb0 >/dev/null

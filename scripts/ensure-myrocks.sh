#!/bin/sh
# Sees to it that MyRocks can be tuned: mariadbd with RocksDB, and sysbench. lsmtune starts servers
# of its own. A server that is there already is left alone; one that comes with the packages is
# neither started nor enabled.
set -eu

usable() {
    command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null &&
        command -v sysbench >/dev/null && ls /usr/lib*/mysql/plugin/ha_rocksdb.so >/dev/null 2>&1
}

if usable; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || command -v mariadbd >/dev/null; then
    echo "MyRocks needs mariadb-server, mariadb-plugin-rocksdb and sysbench: install what is missing \
(Debian: sudo apt-get install --no-install-recommends mariadb-server mariadb-plugin-rocksdb \
sysbench; this may restart a server that runs)" >&2
    exit 1
fi
echo "installing mariadb-server, mariadb-plugin-rocksdb and sysbench from the system's packages" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 1' INT TERM HUP
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    mariadb-server mariadb-plugin-rocksdb sysbench >/dev/null
if command -v systemctl >/dev/null; then systemctl disable mariadb >/dev/null 2>&1 || true; fi
usable || { echo "the packages are there, but mariadbd finds no RocksDB engine" >&2; exit 1; }

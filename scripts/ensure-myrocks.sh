#!/bin/sh
# Installs what tuning MyRocks needs: mariadbd with RocksDB, and sysbench. lsmtune starts its own
# servers. An existing server is not changed; one that comes with the packages is neither started
# nor enabled.
set -eu

usable() {
    command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null &&
        command -v sysbench >/dev/null && ls /usr/lib*/mysql/plugin/ha_rocksdb.so >/dev/null 2>&1
}

if usable; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || command -v mariadbd >/dev/null; then
    echo "setup: MyRocks needs mariadb-server, mariadb-plugin-rocksdb and sysbench; install what is \
missing (Debian: sudo apt-get install --no-install-recommends mariadb-server \
mariadb-plugin-rocksdb sysbench). This may restart a running server." >&2
    exit 1
fi
echo "setup: installing mariadb-server, mariadb-plugin-rocksdb and sysbench" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 1' INT TERM HUP
    # It forbids services to start while this script runs. If this script is killed, the file allows
    # them again, and removes itself when it is asked.
    printf '#!/bin/sh\nif kill -0 %s 2>/dev/null; then exit 101; fi\nrm -f "$0"\n' $$ >"$policy"
    chmod +x "$policy"
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    mariadb-server mariadb-plugin-rocksdb sysbench >/dev/null
if command -v systemctl >/dev/null; then systemctl disable mariadb >/dev/null 2>&1 || true; fi
usable || { echo "setup: mariadbd is installed, but its RocksDB plugin is missing" >&2; exit 1; }

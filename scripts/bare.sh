#!/bin/sh
# Runs a command as on a machine where `make stores` and `make myrocks` were never called and that
# has no db_bench: CI tests that the suite passes there. The machine does not change. The command
# sees an overlay over /usr, in a mount namespace that ends with it.
# Exit code: that of the command; 77 if this user or this kernel does not allow the namespace.
set -eu
not_allowed=77
programs="db_bench mariadbd mariadb-install-db sysbench"

refuse() {
    echo "bare: cannot hide installed stores, because $1 is not possible here; try as root" >&2
    exit "$not_allowed"
}

if [ "${1:-}" != --inside ]; then
    unshare --mount true 2>/dev/null || refuse "a mount namespace"
    folder=$(mktemp -d)
    trap 'rmdir "$folder"' EXIT
    trap 'exit 1' INT TERM HUP
    unshare --mount "$0" --inside "$folder" "$@"
    exit
fi

folder=$2
shift 2
# What is written to the overlays stays in memory and ends with the namespace.
mount -t tmpfs tmpfs "$folder" 2>/dev/null || refuse "a tmpfs"

overlay() {
    layer=$(mktemp -d "$folder/XXXXXX")
    mkdir "$layer/upper" "$layer/work"
    mount -t overlay -o "lowerdir=$1,upperdir=$layer/upper,workdir=$layer/work" overlay "$1" \
        2>/dev/null || refuse "an overlay over $1"
}

overlay /usr
find /usr \( -name 'libleveldb*.so*' -o -name 'liblmdb*.so*' -o -name ha_rocksdb.so \) -delete
for program in $programs; do
    while path=$(command -v "$program"); do
        path=$(realpath "$path")
        case $path in /usr/*) ;; *) overlay "$(dirname "$path")" ;; esac
        rm "$path"
    done
done
unset LSMTUNE_DB_BENCH
exec "$@"

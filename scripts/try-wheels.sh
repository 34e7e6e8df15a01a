#!/bin/sh
# Installs the wheels in dist/ as a user would: into an empty virtual environment, in an empty home
# folder, outside the sources. Then installs RocksDB and tunes for a moment. Root becomes the user
# "nobody" first. Prints how many seconds the installations take.
set -eu
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
trap 'exit 130' INT TERM
cp dist/lsmtune-*.whl dist/lsmsim-*.whl "$home"

as_user() (
    unset PYTHONPATH PYTHONHOME VIRTUAL_ENV TMPDIR XDG_CACHE_HOME XDG_STATE_HOME LSMTUNE_DB_BENCH
    export HOME="$home"
    cd "$home"
    if [ "$(id -u)" != 0 ]; then exec "$@"; fi
    exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
)
if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 "$home"; fi

for python in python3.13 python3.12 python3.11 python3 /usr/bin/python3 none; do
    if as_user "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' \
        2>/dev/null; then break; fi
done
if [ "$python" = none ]; then
    echo "try-wheels: needs Python 3.11 or newer with its venv module that every user can run" >&2
    exit 1
fi

as_user "$python" -m venv env
start=$(date +%s)
as_user env/bin/python -m pip install --quiet --disable-pip-version-check \
    "$home"/lsmtune-*.whl "$home"/lsmsim-*.whl
installed=$(date +%s)
as_user env/bin/lsmtune engines install rocksdb
engine=$(date +%s)
as_user env/bin/lsmtune tune --study try --num 20000 --trials 4
as_user env/bin/lsmtune show try --json >"$home/try.json"
as_user env/bin/python -c 'import json, sys
trials = json.load(open(sys.argv[1]))["trials"]
sys.exit(0 if trials["complete"] + trials["cut"] >= 3 else f"try-wheels: {trials}")' \
    "$home/try.json"
echo "pip install took $((installed - start)) s, engines install $((engine - installed)) s" \
    "(goal: at most 120 s together)"

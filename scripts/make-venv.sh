#!/bin/sh
# Creates .venv with lsmtune and its tools, in the versions and files of requirements.lock.
set -eu
python=${1:-python3}

fits() { "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

if ! fits "$python"; then
    for candidate in python3.13 python3.12 python3.11; do
        if fits "$candidate"; then python=$candidate; break; fi
    done
fi
if ! fits "$python" && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing Python from the system's packages" >&2
    apt-get update -qq && apt-get install -y -qq python3 python3-venv >/dev/null
    python=python3
fi
if ! fits "$python"; then
    found=$("$python" -c 'import sys; from importlib.util import find_spec
print("%d.%d.%d" % sys.version_info[:3] + ("" if find_spec("ensurepip") else " without it"))' \
        2>/dev/null) || found=
    echo "setup: lsmtune needs Python 3.11 or newer with its venv module, and $python is \
${found:-missing}; install one (Debian: sudo apt-get install python3 python3-venv), or name one with \
\`make setup PYTHON=...\`" >&2
    exit 1
fi
if [ ! -x .venv/bin/python ]; then
    echo "setup: creating the virtual environment .venv" >&2
    "$python" -m venv .venv
    # Python 3.11 puts it there, and nothing needs it.
    .venv/bin/python -m pip uninstall --quiet --quiet --yes setuptools
fi
echo "setup: installing lsmtune and its packages (about a minute)" >&2
install() { .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }
# pip cannot hash a folder, so lsmtune comes without its packages, and is built with what is there.
if ! install --require-hashes -r requirements.lock || ! install --no-deps --no-build-isolation -e .
then
    proxy="no HTTPS_PROXY is set"
    [ -z "${https_proxy:-${HTTPS_PROXY:-}}" ] || proxy="HTTPS_PROXY sets a proxy"
    echo "setup: pip cannot install the packages of lsmtune, for the reason above; check the \
network ($proxy), then run \`make setup\` again" >&2
    exit 1
fi

"""Checks the wheels of lsmtune and lsmsim: `python scripts/check_wheels.py dist/*.whl`.

A wheel contains the licence texts and nothing of RocksDB, LevelDB or LMDB, names no folder of the
machine that built it, and has the version of its sources. Each fault is one line, and the exit code
is then 1.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
MODULE = "lsmsim/lsmsim.abi3.so"
_STORES = re.compile(r"rocksdbjni|lib(rocksdb|leveldb|lmdb)")
_COMPILED = (b"\x7fELF", b"!<arch>", b"PK\x03\x04")
_CODE = re.compile(rb"_ZNK?7(rocksdb|leveldb)|LMDB 0\.9\.\d")
"""What a module contains with the code of a store: C++ names, or the text of LMDB's version.

The driver contains the C names of the functions that it looks up, so they prove nothing.
"""
_FOLDERS = re.compile(rb"/home/|/root/|/Users/|path\+file:")
_DRIVER = "import sys; sys.path.insert(0, sys.argv[1]); import lsmsim; lsmsim.drive()"


def faults(path: Path) -> Iterator[str]:
    """What is wrong with a wheel, one line each."""
    with ZipFile(path) as wheel:
        members = {name: wheel.read(name) for name in wheel.namelist()}
    name, version = path.name.split("-")[:2]
    if version != (expected := version_of(name)):
        yield f"version {version} instead of {expected}"
    licences = {f"{name}-{version}.dist-info/licenses/LICENSE": ROOT / "LICENSE"}
    if name == "lsmtune":
        wanted_files = _sources()
    else:
        wanted_files = {MODULE}
        text = "THIRD-PARTY-LICENSES.txt"
        licences[f"{name}-{version}.dist-info/licenses/{text}"] = ROOT / "native/lsmsim-py" / text
    yield from (f"{each} is missing" for each in sorted(wanted_files - members.keys()))
    for member, source in licences.items():
        if members.get(member) != source.read_bytes():
            yield f"{member} is missing or differs from {source.name}"
    for member, content in members.items():
        yield from (f"{member} {fault}" for fault in _faults_inside(member, content))


def _faults_inside(member: str, content: bytes) -> Iterator[str]:
    if _STORES.search(member) or (content.startswith(_COMPILED) and member != MODULE):
        yield "is a library or an archive"
    if member == MODULE and _CODE.search(content):
        yield "contains code of a store"
    places = [str(ROOT), str(Path.home()), os.environ.get("CARGO_HOME", "")]
    named = [each for each in places if len(each) > 1 and each.encode() in content]
    if named or _FOLDERS.search(content):
        yield "names a folder of the machine"


def _sources() -> set[str]:
    """The files of both packages, as they are named in a wheel."""
    return {
        str(each.relative_to(ROOT / "src"))
        for each in (ROOT / "src").rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }


def version_of(name: str) -> str:
    """The version of lsmtune, or of the crates in lsmsim, in their sources."""
    if name == "lsmtune":
        return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])
    native = tomllib.loads((ROOT / "native" / "Cargo.toml").read_text())
    return str(native["workspace"]["package"]["version"])


def driver_fault(path: Path) -> str | None:
    """Start the driver of a native wheel with a plan that is empty, which it must refuse."""
    with tempfile.TemporaryDirectory() as folder:
        with ZipFile(path) as wheel:
            wheel.extractall(folder)
        done = subprocess.run(
            [sys.executable, "-I", "-c", _DRIVER, folder],
            input=b"{}\n", stdout=subprocess.PIPE, check=False, timeout=60,
        )  # fmt: skip
    lines = done.stdout.splitlines()
    events = [json.loads(line)["event"] for line in lines]
    return None if events == ["failed"] else f"the driver prints {events} for an empty plan"


def main(paths: list[Path]) -> int:
    """Print the faults of the wheels. A wheel of each kind has to be there."""
    found = []
    for name in ("lsmtune", "lsmsim"):
        if not any(path.name.startswith(f"{name}-") for path in paths):
            found.append(f"no wheel of {name}")
    for path in paths:
        found += [f"{path.name}: {fault}" for fault in faults(path)]
        if path.name.startswith("lsmsim-") and (fault := driver_fault(path)):
            found.append(f"{path.name}: {fault}")
    print("\n".join(found) or f"{len(paths)} wheels are complete and contain nothing else")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]]))

"""Jars as Maven serves them, with a stand-in for RocksDB's library, and no network."""

import io
import json
import os
import subprocess
import tempfile
import time
import zipfile
from functools import cache
from pathlib import Path

import pytest
import requests
from requests.structures import CaseInsensitiveDict

from lsmtune.engines.libraries.install import Fetch, Sources
from lsmtune.engines.libraries.installed import Pin, sha256_of
from lsmtune.engines.libraries.natives import platform_name

VERSION = "9.9.9"
FOUND, MISSING = 200, 404
"""What a server answers for a file that it has, and for one that it does not have."""
_SOURCE = Path(__file__).with_name("fake_rocksdb.c")
_HELD = "held"
_SETTINGS = "FAKE_MAVEN"


@cache
def build(fault: str = "NOTHING", version: str = VERSION) -> bytes:
    """Compile the stand-in that has this fault and says that it is this version."""
    macros = [f"-DFAULT={fault}", f'-DVERSION="{version}"']
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.so"
        subprocess.run(["cc", "-shared", "-fPIC", *macros, "-o", library, _SOURCE], check=True)
        return library.read_bytes()


def pack(jar: Path, library: bytes | None, platform: str | None = None) -> Path:
    """Write a jar with the library for that platform [this machine], or with none."""
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("org/rocksdb/RocksDB.class", b"not a native library")
        if library is not None:
            archive.writestr(f"librocksdbjni-{platform or platform_name()}.so", library)
    return jar


def pinned(jar: Path, jar_sha256: str | None = None, library_sha256: str = "") -> dict[str, Pin]:
    """The pins of a jar; a SHA-256 that is given replaces the true one."""
    return {VERSION: Pin(jar_sha256 or sha256_of(jar), {platform_name(): library_sha256})}


def serving(jar: Path, pins: dict[str, Pin] | None = None) -> Sources:
    """A Maven that serves one jar as every version."""
    return Sources(fetch_from(jar), pins or {})


def fetch_from(jar: Path) -> Fetch:
    """Download by copying."""

    def fetch(version: str, folder: Path) -> Path:
        folder.mkdir()
        target = folder / f"rocksdbjni-{version}.jar"
        target.write_bytes(jar.read_bytes())
        return target

    return fetch


def serve(jar: Path, patch: pytest.MonkeyPatch) -> None:
    """Let Maven serve one jar as every version."""
    patch.setattr(requests, "request", lambda _, url, **__: answer(FOUND, jar.read_bytes()))


def answer(status: int, content: bytes) -> requests.Response:
    """Return what a server answers."""
    response = requests.Response()
    response.status_code, response.raw = status, io.BytesIO(content)
    response.headers = CaseInsensitiveDict({"content-length": str(len(content))})
    return response


def settings(jar: Path, hold: Path | None = None) -> dict[str, str]:
    """The environment of a program that downloads this jar; with `hold`, that does not end.

    The file `hold` is made as soon as half of the jar is written.
    """
    return {_SETTINGS: json.dumps([str(jar), None if hold is None else str(hold)])}


def fetch_as_told(version: str, folder: Path) -> Path:
    """Do what the environment says."""
    jar, hold = json.loads(os.environ[_SETTINGS])
    fetched = fetch_from(Path(jar))(version, folder)
    if hold is not None:
        os.truncate(fetched, fetched.stat().st_size // 2)
        Path(hold).write_text(_HELD)
        time.sleep(3600)
    return fetched

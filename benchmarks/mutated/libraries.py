"""Readers of an installation: the jar that was downloaded, the record of an installed library."""

import io
import os
import zipfile
from pathlib import Path

from lsmtune.engines.libraries.installed import LIBRARY, RECORD, Record
from lsmtune.engines.libraries.natives import unpack_library
from mutated.reader import Reader, command, write_file

_PLATFORM = "linux64"


def _jar_bytes() -> list[bytes]:
    jars = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", method) as archive:
            archive.writestr("org/rocksdb/RocksDB.class", b"not a native library")
            archive.writestr(f"librocksdbjni-{_PLATFORM}.so", b"a library " * 300)
        jars.append(content.getvalue())
    return jars


def _jar(data: bytes, folder: Path) -> None:
    unpack_library(write_file(data, folder, "a.jar"), _PLATFORM, folder / LIBRARY)


def _record_text() -> list[bytes]:
    record = Record(
        version="11.8.1", source="org.rocksdb:rocksdbjni:11.8.1", jar_sha256="0" * 64,
        sha256="1" * 64, pinned=True,
    )  # fmt: skip
    return [record.model_dump_json(indent=2).encode()]


def _record(data: bytes, folder: Path) -> None:
    os.environ["XDG_CACHE_HOME"] = str(folder)
    engine = folder / "lsmtune" / "engines" / "rocksdb-11.8.1-111111111111"
    engine.mkdir(parents=True, exist_ok=True)
    write_file(data, engine, RECORD)
    command("engines", "--json")
    command("engines")


READERS = {
    "jar": Reader(_jar, _jar_bytes),
    "engine_record": Reader(_record, _record_text),
}
"""What each reader reads."""
